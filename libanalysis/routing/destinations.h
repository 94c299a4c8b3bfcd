/// The LIDs behind each switch in the order in which engines deal them out.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "routing/switch_graph.h"

namespace heddle::routing {

/// One LID of a target.
struct Destination {
  Lid lid;
  std::uint16_t offset = 0;  ///< within the 2^LMC LIDs of the port
  PortNum out;               ///< where it leaves its own switch
  TargetKind kind = TargetKind::Host;
  std::uint32_t target = 0;  ///< position in SwitchGraph::targets()
};

/// Ascending by LID per switch. Positions in all() are dense over all switches.
class Destinations {
 public:
  explicit Destinations(const SwitchGraph& graph) {
    for (std::uint32_t s = 0; s < graph.size(); ++s) {
      first_.push_back(static_cast<std::uint32_t>(all_.size()));
      for (const std::uint32_t t : graph.targets_at(SwitchIndex{s})) {
        const Target& target = graph.targets()[t];
        for (unsigned i = 0; i < target.lid_count(); ++i) {
          all_.push_back({Lid{static_cast<std::uint16_t>(target.base.raw() + i)},
                          static_cast<std::uint16_t>(i), target.out, target.kind, t});
        }
      }
    }
    first_.push_back(static_cast<std::uint32_t>(all_.size()));
  }

  [[nodiscard]] std::span<const Destination> all() const { return all_; }
  [[nodiscard]] std::size_t first(SwitchIndex s) const { return first_[s.raw()]; }
  [[nodiscard]] std::span<const Destination> at(SwitchIndex s) const {
    return std::span(all_).subspan(first_[s.raw()], first_[s.raw() + 1] - first_[s.raw()]);
  }

 private:
  std::vector<std::uint32_t> first_;
  std::vector<Destination> all_;
};

}  // namespace heddle::routing
