/// Evens out the home tables of fabrics that are no regular trees: one LID after the other is taken off its
/// paths and put on the cheapest legal ones, where the price of a link grows steeply with its load (as in the
/// approximation of multicommodity flows by Garg and Könemann, 2007, with one tree per LID).
#pragma once

#include "routing/full_topology.h"
#include "routing/link_set.h"
#include "routing/tables.h"

namespace heddle::routing {

/// Whether all switches of a rank are alike in hosts and links up and down: chains leave nothing to improve
/// there.
[[nodiscard]] bool is_regular_tree(const SwitchGraph& graph, const Ranks& ranks);

/// How many rounds are worth their time for a fabric: none for the largest.
[[nodiscard]] unsigned balance_rounds(const SwitchGraph& graph, const Destinations& destinations);

/// Improves `home` for traffic from all hosts to all hosts. Entries of mended switches are not looked at;
/// what they send is taken to be spread evenly over their ways. Returns the largest load of a link, in the
/// unit of quality.h. The result depends on the arguments only.
double balance(const FullTopology& full, unsigned rounds, ForwardingTables& home);

/// The first part of balance(): takes LIDs off links that carry more than `limit`, and leaves the others
/// where they are. The largest load then.
double relieve(const FullTopology& full, double limit, unsigned rounds, ForwardingTables& home);

/// Whether balance() had no reason to stop before the bound of whole LIDs.
[[nodiscard]] bool is_near_bound(const SwitchGraph& graph, double largest);

/// Where that bound cannot be had, LIDs were moved on the way to it for nothing: takes them off links of
/// `chains`, which balance() began with, only as far as `home` came, mends included, and keeps these tables
/// in place of `home` if they carry permutations better.
void spare_chains(const FullTopology& full, const LinkSet& all, unsigned rounds, ForwardingTables chains,
                  ForwardingTables& home);

}  // namespace heddle::routing
