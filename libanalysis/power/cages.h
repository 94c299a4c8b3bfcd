/// What modules draw. A module is lit while one of the ports of its cage is on: a cage of two ports saves its
/// module only when both are off, so that the port that is off still draws its share until then.
#pragma once

#include <cstdint>
#include <span>
#include <unordered_map>
#include <vector>

#include "power/power_model.h"

namespace heddle::power {

class Cages {
 public:
  /// Of the modules of all ends of links, when link i runs in modes[i]. Precondition: a mode for each link.
  Cages(const PowerModel& model, const Fabric& fabric, std::span<const LinkMode> modes);

  /// A port's share of its module's power: all ports of a cage that have a link share alike.
  [[nodiscard]] Watts share(LinkEnd end) const;

 private:
  struct Cage {
    Watts module;
    unsigned linked = 0;
    bool lit = false;
  };
  [[nodiscard]] std::uint64_t key(LinkEnd end) const;

  std::vector<unsigned> ports_a_cage_;  ///< by NodeIndex; 0: no module that anybody knows of
  std::unordered_map<std::uint64_t, Cage> cages_;
};

}  // namespace heddle::power
