/// Which of several orders lets links be loaded least.
#pragma once

#include "routing/destinations.h"
#include "routing/link_set.h"
#include "routing/ranks.h"
#include "routing/switch_graph.h"

namespace heddle::routing {

/// Of rank_candidates(), the one whose fullest link carries least when all hosts send to all, by tables that
/// chains make and a few rounds of balancing improve (on large fabrics, none; and there are tables only for
/// candidates whose links would carry less than the best one's if every switch spread over all its shortest
/// ways). Of equals, the one with more shift bandwidth (permutations.h). A candidate that leaves hosts
/// without a path, mends included, is taken only when all do.
[[nodiscard]] Ranks choose_ranks(const SwitchGraph& graph, const Destinations& destinations,
                                 const LinkSet& all);

}  // namespace heddle::routing
