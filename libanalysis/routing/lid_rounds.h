/// Which LIDs may change at the same time. Two sets of tables may each be free of circles of dependencies and
/// not be so together: those of before follow other mends than the wanted ones (mends.h), because these were
/// made for a topology that has more cables. Then LIDs change in rounds, and a round begins when no packet of
/// those before it is left: what a LID was led by may close a circle with what another one is to be led by,
/// and must be gone first. Where each of those that are left would close one, some take another way meanwhile
/// (stopovers.h). Where that does not help either, those that lead nowhere are taken out of the tables, and
/// what they held is no longer in the way a round later. And whatever is left stays as it is, if whoever
/// writes it bears that: a way that is not the wanted one is better than a circle. Where some could not stay
/// either, since they lead not everybody there, and others are in the way of what is missing, these can
/// pause: a few of their entries are taken away until those have changed.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "routing/link_set.h"
#include "routing/mends.h"
#include "routing/ranks.h"
#include "routing/recent_entries.h"
#include "routing/switch_graph.h"
#include "routing/tables.h"
#include "routing/update_plan.h"

namespace heddle::routing {

/// What the new tables are made for. What it refers to must outlive the call.
struct UpdateOrder {
  const SwitchGraph& graph;
  const Ranks& ranks;
  const Mends& mends;
  const LinkSet* up = nullptr;  ///< links that forward; null: all
  /// Those that are to stay in use: others are led over by what is wanted only. Null: all that forward.
  const LinkSet* usable = nullptr;
  /// Those over which LIDs may stay, besides, where any other way could close a circle. Null: none besides.
  const LinkSet* open = nullptr;
  /// By plane, those over which ways are kept that the order does not give (kept_ways.h): LID base + i is in
  /// plane i mod their number. Empty: `usable`.
  std::span<const LinkSet> by_plane{};
};

/// Whether LIDs may be left without the entries that are wanted, where these would close a circle.
enum class MayStay : std::uint8_t {
  No,
  Yes,
  OrPause  ///< where that is not enough, some are without a way for a while, and none is written in a circle
};

/// What packets may follow besides the two sets of tables.
struct Besides {
  const RecentEntries* recent = nullptr;  ///< entries that are gone; null: none
  std::span<const Lid> kept{};            ///< LIDs with entries that the order does not give (kept_ways.h)
  MayStay may_stay = MayStay::No;
  /// Whoever writes the tables sends packets of a LID back to a switch only when those that it sent are gone
  /// (packet_life.h), but for a switch without a way there.
  bool returns_wait = false;
};

/// From one set of tables to another, in these stages: as they are carried out if all LIDs change together.
struct TableChange {
  const ForwardingTables& before;
  const ForwardingTables& after;
  std::span<const std::vector<EntryWrite>> stages;
  Besides besides{};
};

/// Whether the dependencies of all packets have no circle, whatever they meet: entries of before, of after,
/// or some of either, as the stages allow it.
[[nodiscard]] bool mixtures_are_acyclic(const UpdateOrder& order, const TableChange& change);

/// Whether packets of a LID that changes or is kept, or such as are under way by entries that are gone, are
/// turned in a way that neither the order nor its mends allow.
[[nodiscard]] bool has_foreign_turns(const UpdateOrder& order, const TableChange& change);

/// Entries that LIDs have between their old and their new ones.
struct Stopover {
  std::size_t round = 0;  ///< in which they are written
  std::vector<Lid> lids;
  std::vector<std::vector<EntryWrite>> there;
  /// Each LID's in the round that it changes in; none of those that stay.
  std::vector<std::vector<EntryWrite>> onward;
};

struct LidRounds {
  static constexpr std::size_t never = static_cast<std::size_t>(-1);

  /// By LID, the round that it changes in; 0 for all that do not differ, never for those that stay.
  std::vector<std::size_t> of;
  std::size_t count = 1;
  bool stands_in_circle = false;  ///< `before` has circles already
  bool first_waits = true;  ///< packets of entries that are gone by now may be in the way of the first round
  std::vector<Lid> broken;  ///< ascending: of the first round, that lead over a link that is down
  std::vector<Stopover> stopovers;  ///< in their order; a LID goes on from its last one
  /// Where no order of LIDs is free of circles: those that keep their entries, and have others only where
  /// these lead nowhere, or over links that are not to be used.
  std::vector<Lid> staying;
  /// Those of the last round for which that cannot be either; with MayStay::OrPause they stay, too.
  std::vector<Lid> circular;
};

/// One round where that does, and where `before` has circles already. Of LIDs whose order does not matter,
/// those that lead over a link that is down come first. The first round closes no circle with packets that
/// are under way by entries that are gone: it may be empty.
[[nodiscard]] LidRounds make_rounds(const UpdateOrder& order, const TableChange& change);

}  // namespace heddle::routing
