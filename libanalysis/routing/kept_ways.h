/// Entries that lead there and would be taken away for nothing. After a loss the order may give a switch no
/// path to a LID, and its mends none either, though cables join the two: they are made for a topology, and
/// what stands may follow the mends of an earlier one. Such an entry stays until there is a path, or its link
/// is to go off: no packet is dropped that would have arrived.
///
/// Where no hosts would be apart, and what stands follows the order, a pair that loses its path is one that
/// nobody needs, and the entry stays only while packets turn as the order and its mends allow: another turn
/// may close a circle with some mixture of old and new entries of other LIDs.
///
/// Pure.
#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "routing/lid_rounds.h"
#include "routing/link_set.h"
#include "routing/tables.h"

namespace heddle::routing {

struct KeptWay {
  SwitchIndex sw;
  Lid lid;
  PortNum port;
};

enum class Keep : std::uint8_t {
  InOrder,   ///< of those that suit, none that has led nowhere and turns as the order does not allow
  ThatSuit,  ///< none that would close a circle of dependencies with `after` and with one another
  OrOthers,  ///< and for what such lead to, other ways that close none, where there are any
  All        ///< who writes the tables leaves other LIDs as they are, if need be (lid_rounds.h)
};

/// Of the entries that `before` has and `after` has not, those that lead over links of `order.by_plane` to
/// where `after` leads on; with OrOthers also entries in place of those that `after` has, which may be in any
/// block. `differing`: the blocks in which the tables may differ. Precondition: order.by_plane or
/// order.usable.
[[nodiscard]] std::vector<KeptWay> ways_to_keep(const UpdateOrder& order, const ForwardingTables& before,
                                                const ForwardingTables& after,
                                                std::span<const BlockRef> differing,
                                                Keep which = Keep::ThatSuit);

struct PlaneOf {
  unsigned plane = 0;
  unsigned planes = 1;  ///< LID base + i is in plane i mod planes
};

/// Whether some of these pairs of switches, which the order leaves apart over the links of `to`, get to one
/// another all the same, by the LIDs of this plane and what is `held`: over links of `open`, some of which
/// are not in `to`. `held`: of the same switches.
[[nodiscard]] bool lose_a_way(const SwitchGraph& graph, PlaneOf plane,
                              std::span<const std::pair<SwitchIndex, SwitchIndex>> apart,
                              const ForwardingTables& held, const LinkSet& to, const LinkSet& open);

}  // namespace heddle::routing
