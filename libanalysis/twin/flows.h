/// Whose traffic it is, made of what counters tell: flows between hosts that put on every host's link what
/// was measured there, and on links between switches nearly so. Counters do not tell whom a host sends to:
/// that is estimated (regulation/traffic.h), so that what follows from it is, too.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "regulation/network.h"
#include "regulation/traffic.h"
#include "sim/traffic_plane.h"

namespace heddle::twin {

/// More flows than these are not made: of a large fabric each host then sends to so many of all it may send
/// to, chosen evenly, and as much in all.
inline constexpr std::size_t most_flows = 200'000;

/// `tables`: in force when the loads were measured. Demands are what was carried: what waited is not known.
[[nodiscard]] std::vector<sim::TrafficFlow> estimate_flows(const regulation::Network& network,
                                                           const regulation::MeasuredLoads& loads,
                                                           const routing::ForwardingTables& tables,
                                                           unsigned plane = 0, std::size_t most = most_flows);

/// What was measured, by the numbers of the network. `leaving`: bit/s that leave each port of its fabric, by
/// PortIndex; not a number where nobody knows.
[[nodiscard]] regulation::MeasuredLoads loads_of(const regulation::Network& network,
                                                 std::span<const double> leaving);

/// How far the loads of links between switches lie from what they were if every host sent to all others, in
/// proportion to what these receive: a share of all load. Many matrices of few flows explain what lies
/// elsewhere, and nobody knows which of them it is. 0 where nothing is carried.
[[nodiscard]] double unevenness(const regulation::Network& network, const regulation::MeasuredLoads& loads,
                                const routing::ForwardingTables& tables, unsigned plane = 0);
/// Above it a prediction of single links means nothing (tests/unit/twin/estimate_test.cc has its figures).
inline constexpr double most_uneven = 0.5;

/// How far the largest load of a link between switches that estimated flows predict was from that of the
/// flows themselves, as a share of it: over ten kinds of traffic, after each switch without hosts is taken
/// out, on a fat tree and on a torus (tests/unit/twin/estimate_test.cc measures it, and holds these to it).
struct StatedError {
  double median = 0;
  double worst = 0;
};
[[nodiscard]] StatedError error_of_estimates();

}  // namespace heddle::twin
