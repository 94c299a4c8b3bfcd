/// Who sends to whom in a pattern of traffic.
#pragma once

#include <span>
#include <vector>

#include "base/ids.h"
#include "base/random.h"
#include "sim/scenario.h"

namespace heddle::sim {

struct TrafficPair {
  PortIndex from;
  PortIndex to;
  double share;  ///< of what the sender sends
  friend constexpr bool operator==(const TrafficPair&, const TrafficPair&) = default;
};

/// Both lists are sorted. Patterns over the order of hosts use the senders alone; `receivers` are for
/// Uniform, Hotspot and Incast. No pair has one port at both ends. Pattern::Flows gives none. At most
/// phase.destinations + 1 pairs a sender.
[[nodiscard]] std::vector<TrafficPair> make_pairs(const Phase& phase, std::span<const PortIndex> senders,
                                                  std::span<const PortIndex> receivers, Random& random);

}  // namespace heddle::sim
