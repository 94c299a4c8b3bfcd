/// Shortest paths with no regard to deadlock: what OpenSM does by default. For comparison, and for fabrics
/// whose every cycle of cables is known to be harmless; whoever uses it is warned.
#pragma once

#include <string_view>

#include "routing/link_set.h"
#include "routing/switch_graph.h"
#include "routing/tables.h"

namespace heddle::routing {

inline constexpr std::string_view minhop_warning =
    "min-hop paths can deadlock: their channel dependencies are not ordered; prefer updn or dor";

/// Tables over the active links. Each switch deals the LIDs of every kind to its least used port among those
/// on a shortest path. LIDs that cannot be reached are no_path.
[[nodiscard]] ForwardingTables route_minhop(const SwitchGraph& graph, const LinkSet& active);

}  // namespace heddle::routing
