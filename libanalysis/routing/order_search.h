/// Looks for an order near to a given one in which links carry less. Candidates of rank_candidates() are made
/// by one rule for all switches, and in fabrics of several parts no rule suits all of them: a core that is
/// one level too low, or a line board between two islands, makes everybody pass a single link. Moving that
/// one switch is enough.
#pragma once

#include <optional>

#include "routing/destinations.h"
#include "routing/link_set.h"
#include "routing/ranks.h"
#include "routing/switch_graph.h"

namespace heddle::routing {

/// No order suits some switches better than others.
[[nodiscard]] bool switches_are_alike(const SwitchGraph& graph);

/// Moves switches at the fullest links, or at pairs of hosts without a path, up or down the order, one at a
/// time, and keeps what joins more hosts or loads the fullest link less, until that carries no more than
/// `enough`. As long as is worth it for a fabric of this size; none at all for the largest, and where all
/// switches are alike. Nothing where no move helps. Depends on its arguments only.
[[nodiscard]] std::optional<Ranks> better_order(const SwitchGraph& graph, const Destinations& destinations,
                                                const LinkSet& all, const Ranks& start, double enough);

}  // namespace heddle::routing
