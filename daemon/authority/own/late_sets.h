/// Until when a copy of a Set of a port may still arrive that its sender gave up, or sent again before the
/// answer came. A Set of a physical state takes a link down that has trained meanwhile, under its packets
/// (IBA 14.2.5.6): Polling has it train once more, Disabled takes it off. A MAD is a packet, too: it arrives
/// while packets live (routing/packet_life.h), or never.
///
/// Pure: time comes in as an argument.
#pragma once

#include <algorithm>
#include <map>
#include <optional>

#include "base/ids.h"
#include "base/units.h"

namespace heddle::provision {

class LateSets {
 public:
  explicit LateSets(FabricClock::duration packet_life) : life_{packet_life} {}

  /// An earlier run of the program may have sent the last of its Sets, to any port, just before. Once.
  void begin(Instant now) {
    if (!of_before_) of_before_ = now + life_;
  }
  /// The last copy was sent by now, and at least one of them has not been answered.
  void sent(const PortRef& port, Instant now) {
    std::erase_if(settled_, [&](const auto& each) { return each.second <= now; });
    settled_[port] = now + life_;
  }
  /// Before this, one may arrive there.
  [[nodiscard]] Instant settled(const PortRef& port) const {
    const auto it = settled_.find(port);
    const Instant before = of_before_.value_or(Instant::min());
    return it == settled_.end() ? before : std::max(before, it->second);
  }

 private:
  FabricClock::duration life_;
  std::optional<Instant> of_before_;
  std::map<PortRef, Instant> settled_;
};

}  // namespace heddle::provision
