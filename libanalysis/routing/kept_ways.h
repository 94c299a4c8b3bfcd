/// Entries that lead there and would be taken away for nothing. After a loss the order may give a switch no
/// path to a LID, and its mends none either, though cables join the two: they are made for a topology, and
/// what stands may follow the mends of an earlier one. Such an entry stays until there is a path, or its link
/// is to go off: no packet is dropped that would have arrived.
///
/// Pure.
#pragma once

#include <span>
#include <vector>

#include "routing/link_set.h"
#include "routing/switch_graph.h"
#include "routing/tables.h"

namespace heddle::routing {

struct KeptWay {
  SwitchIndex sw;
  Lid lid;
  PortNum port;
};

/// Of the entries that `before` has and `after` has not, those that lead over `usable` links to where `after`
/// leads on. None that would close a circle of dependencies with `after` and with one another. `differing`:
/// the blocks in which the tables may differ.
[[nodiscard]] std::vector<KeptWay> ways_to_keep(const SwitchGraph& graph, const ForwardingTables& before,
                                                const ForwardingTables& after,
                                                std::span<const BlockRef> differing, const LinkSet& usable);

}  // namespace heddle::routing
