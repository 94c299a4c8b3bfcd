/// What cages of several ports add to the choice of links: a module is dark only when all of its ports are
/// off, so that a port that leaves saves its share only if the others leave too. Made for one choice; costs
/// nothing where no switch has such cages.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "power/power_model.h"
#include "regulation/network.h"
#include "routing/link_set.h"

namespace heddle::regulation {

class CageBonus {
 public:
  /// Links that are no trunk's are on. Both must outlive it.
  CageBonus(const power::PowerModel& power, const Network& network);

  /// No module is shared.
  [[nodiscard]] bool none() const { return cages_.empty(); }
  /// Watts that go dark when the link leaves these, beyond its own share of its modules (PowerModel::link()).
  [[nodiscard]] double darkens(LinkIndex link, const routing::LinkSet& active) const;
  /// Watts that modules draw for ports that are off, because another one of their cage is on.
  [[nodiscard]] double wasted(const routing::LinkSet& active) const;
  /// Of links that may leave, and would do as well: those that share a cage one after the other, and first
  /// those whose cages go dark by that. The order stays otherwise.
  void sort(std::vector<LinkIndex>& links, const routing::LinkSet& active) const;

 private:
  struct Cage {
    double module = 0;  ///< watts
    double share = 0;   ///< of one port, with a cable in it or not
    std::vector<LinkIndex> links;
    bool lit_by_others = false;  ///< by a link that is no trunk's
  };
  static constexpr std::uint32_t no_cage = 0xffffffffU;

  [[nodiscard]] unsigned on(const Cage& cage, const routing::LinkSet& active) const;

  std::vector<Cage> cages_;                            ///< with a link
  std::vector<std::array<std::uint32_t, 2>> of_link_;  ///< by LinkIndex: positions of its ends' cages
};

}  // namespace heddle::regulation
