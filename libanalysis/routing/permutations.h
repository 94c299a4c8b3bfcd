/// What hosts get that send each to one other: the steps of collectives, and random pairs. Of a set of flows
/// each gets one part in as many as the fullest link between switches on its way has flows; the figure of a
/// set is the mean over its flows.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/random.h"
#include "base/units.h"
#include "routing/quality.h"
#include "routing/switch_graph.h"
#include "routing/tables.h"

namespace heddle::routing {

/// In which hosts are numbered for a collective.
enum class HostOrder : std::uint8_t {
  File,  ///< as the topology was found
  Lid,
  Leaf  ///< switch by switch as these were found, port by port
};

/// Host numbers (positions in host_targets()) in that order.
[[nodiscard]] std::vector<std::uint32_t> hosts_in_order(const SwitchGraph& graph, HostOrder order);

/// What the flows get, as a mean. Those that do not arrive get nothing.
[[nodiscard]] Ratio bandwidth(const SwitchGraph& graph, const ForwardingTables& tables,
                              std::span<const Flow> flows);

struct ShiftBandwidth {
  Ratio mean{1};
  Ratio worst{1};
};
/// Every host of the order sends to the one so many places after it: `samples` distances, spread evenly over
/// all.
[[nodiscard]] ShiftBandwidth shift_bandwidth(const SwitchGraph& graph, const ForwardingTables& tables,
                                             unsigned samples, HostOrder order = HostOrder::File);

/// Hosts paired at random send to each other in both directions: mean over `samples` drawings (effective
/// bisection bandwidth: Hoefler, Schneider, Lumsdaine, 2008).
[[nodiscard]] Ratio effective_bisection(const SwitchGraph& graph, const ForwardingTables& tables,
                                        unsigned samples, Random& random);

}  // namespace heddle::routing
