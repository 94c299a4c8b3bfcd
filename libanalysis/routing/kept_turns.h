/// Turns from a way down into a way up that packets make by tables that stand in the switches. An order that
/// is made anew, because a program was started or cables were found, is to allow them where it can, before
/// any others: what its mends (mends.h) need besides closes no circle with these, and so the old tables and
/// the new ones have none together. Its mends were else made for another topology than those of before.
///
/// Pure.
#pragma once

#include <chrono>
#include <compare>
#include <cstddef>
#include <span>
#include <vector>

#include "base/ids.h"
#include "routing/legal_paths.h"
#include "routing/mends.h"
#include "routing/ranks.h"
#include "routing/switch_graph.h"
#include "routing/tables.h"
#include "routing/turns.h"

namespace heddle::routing {

/// From a switch down to another and up to a third.
struct KeptTurn {
  NodeGuid from;
  NodeGuid over;
  NodeGuid to;

  friend auto operator<=>(const KeptTurn&, const KeptTurn&) = default;
};

/// After the last change of tables, until they may follow another order for a lost cable: those that follow
/// one after another at once find more that stands by orders before.
inline constexpr std::chrono::seconds between_orders{5};

/// With more, the tables follow another order altogether.
inline constexpr std::size_t most_kept_turns = 512;

/// Those of any LID, the ones that most LIDs make first; none where there are more than most_kept_turns.
[[nodiscard]] std::vector<KeptTurn> standing_turns(const SwitchGraph& graph, const Ranks& ranks,
                                                   const ForwardingTables& tables);

/// Those whose switches the graph has.
[[nodiscard]] std::vector<Turn> turns_of(const SwitchGraph& graph, const std::vector<KeptTurn>& kept);

/// Pairs of switches with hosts that have no path, mended or not.
[[nodiscard]] std::size_t hosts_apart(const SwitchGraph& graph, const Mends& mends);

/// Mends that allow these turns, but for such as would leave more hosts apart than without any: a turn can be
/// in the way of the only mend that a pair could have.
[[nodiscard]] Mends mends_with(const SwitchGraph& graph, const Ranks& ranks, const LegalPaths& full,
                               std::span<const Turn> turns);

}  // namespace heddle::routing
