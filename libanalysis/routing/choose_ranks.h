/// Which of several orders lets links be loaded least.
#pragma once

#include <optional>

#include "routing/destinations.h"
#include "routing/link_set.h"
#include "routing/mends.h"
#include "routing/ranks.h"
#include "routing/switch_graph.h"
#include "routing/tables.h"

namespace heddle::routing {

/// What was made to judge an order, and what its user would make anew.
struct MadeForOrder {
  Mends mends;
  ForwardingTables chains;  ///< home_by_chains(), not balanced
};
struct ChosenOrder {
  Ranks ranks;
  std::optional<MadeForOrder> made;  ///< none where there was nothing to choose from
};

/// Of rank_candidates(), the one whose fullest link carries least when all hosts send to all, by tables that
/// chains make and a few rounds of balancing improve (on large fabrics, none; and there are tables only for
/// candidates whose links would carry less than the best one's if every switch spread over all its shortest
/// ways). Of equals, the one with more shift bandwidth (permutations.h). A candidate that leaves hosts
/// without a path, mends included, is taken only when all do.
[[nodiscard]] ChosenOrder choose_ranks(const SwitchGraph& graph, const Destinations& destinations,
                                       const LinkSet& all);

}  // namespace heddle::routing
