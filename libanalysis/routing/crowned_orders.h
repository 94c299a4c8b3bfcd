/// Orders that join hosts of several parts because a few switches stand on top of all others. Parts that are
/// joined low down, as two directors by cables between line boards, have no rule for all switches that both
/// joins everybody and leads little over each link: what joins them best leaves some pairs without a path,
/// and what leaves none leads everybody over one switch. A switch on top joins all that can go up to it;
/// where it lies between the pairs that have no path, few of them are enough.
#pragma once

#include <vector>

#include "routing/ranks.h"
#include "routing/switch_graph.h"

namespace heddle::routing {

/// The orders of `before`, and one by the traffic that passes each switch for each of its cables, all with
/// switches put on top as long as that gives paths to more pairs of switches with hosts.
[[nodiscard]] std::vector<Ranks> crowned_orders(const SwitchGraph& graph, std::vector<Ranks> before);

/// Puts a few more on top where mends leave pairs without a path. Whether all have one then.
[[nodiscard]] bool crown_for_mends(const SwitchGraph& graph, Ranks& ranks);

}  // namespace heddle::routing
