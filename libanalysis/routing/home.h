/// The tables of the full topology: where each LID is at home. With links off, a switch keeps the home port
/// of a LID as long as it leads there; so a link changes only the entries that depend on it, and balance is
/// decided once.
#pragma once

#include "routing/destinations.h"
#include "routing/legal_paths.h"
#include "routing/ranks.h"
#include "routing/switch_graph.h"
#include "routing/tables.h"

namespace heddle::routing {

/// Every LID gets a chain of switches upwards from its own, each time over the link that has been dealt the
/// fewest LIDs and that no other LID of the port uses; every switch sends the LID towards the lowest switch
/// of the chain that is on a shortest path. So the choices of two levels of a tree never coincide, whatever
/// the order of GUIDs and ports: each link down carries the same number of LIDs, and hence each link up.
[[nodiscard]] ForwardingTables home_by_chains(const SwitchGraph& graph, const Destinations& destinations,
                                              const Ranks& ranks, const LegalPaths& full);

}  // namespace heddle::routing
