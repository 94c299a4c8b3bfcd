/// How evenly tables spread traffic over the cables between switches.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "routing/link_set.h"
#include "routing/switch_graph.h"
#include "routing/tables.h"

namespace heddle::routing {

/// Load of every directed cable between switches, by position among the graph's hops. The unit is what one
/// host sends to one host.
struct Loads {
  std::vector<double> hop;
  double lost = 0;  ///< load that a loop or a missing entry swallows

  [[nodiscard]] double largest() const;
  /// Over the hops of active links.
  [[nodiscard]] double mean(const SwitchGraph& graph, const LinkSet& active) const;
};

/// Every host sends one unit to every other host, in equal parts to each of its 2^LMC LIDs.
[[nodiscard]] Loads all_to_all(const SwitchGraph& graph, const ForwardingTables& tables);

/// Positions of the host targets in graph.targets(): hosts are numbered in this order below.
[[nodiscard]] std::vector<std::uint32_t> host_targets(const SwitchGraph& graph);

/// Which of the 2^LMC LIDs of `to` a source uses when it uses one: their numbers' sum, so that the sources of
/// a destination and the destinations of a source take all of them in turn.
[[nodiscard]] Lid pick_lid(const Target& to, std::uint32_t from_number, std::uint32_t to_number);

struct Flow {
  std::uint32_t from = 0;  ///< host number
  std::uint32_t to = 0;
  double amount = 1;
};
/// Host i sends one unit to host (i + shift) mod n.
[[nodiscard]] std::vector<Flow> shift_pattern(std::size_t hosts, std::size_t shift);
[[nodiscard]] Loads load_of(const SwitchGraph& graph, const ForwardingTables& tables,
                            std::span<const Flow> flows);

/// No routing has a smaller largest load under all_to_all: what must leave or enter a switch, or a set of
/// switches joined by growing from each switch, spread evenly over its cables.
[[nodiscard]] double lower_bound(const SwitchGraph& graph, const LinkSet& active);

/// Likewise of tables, in which a switch has one port for a LID: what its hosts send to all others leaves in
/// whole LIDs, and so does what comes in over cables of one neighbour. 0 where hosts differ in their LMC.
[[nodiscard]] double whole_lid_bound(const SwitchGraph& graph);

}  // namespace heddle::routing
