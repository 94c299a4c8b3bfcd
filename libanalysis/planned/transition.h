/// How the tables in the switches become those that are wanted. OpenSM writes what it is given to all
/// switches at once, in no order that anybody chooses, so each routing may change only what is safe in any
/// order; what is not takes several routings, *passes*, one confirmed before the next (spec: regulation 2).
///
/// Each LID goes its own way, and every pass looks only at what is in force:
/// - entries that lead nowhere any more, after a loss, are written in the very next pass. Where half of them
///   could lead a packet round in a circle, they are taken out first, and written in the passes after it. So
///   are those whose packets might wait in a circle for packets of LIDs that still follow an earlier order;
/// - entries that work change in the stages of routing/update_plan.h, one stage a pass. Those that take a way
///   down, or any way, from a switch (no others: what a switch gains is there for whoever is led to it) wait
///   until packets that were sent there by the entries before are gone: the packet life. So do LIDs that must
///   not change while packets of others are under way (routing/lid_rounds.h). A few that work are taken away
///   for a while where some LID could neither change nor stay without a circle.
///
/// What a switch had before it was seen is unknown, and counts as no way. The thread of the caller.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "routing/lid_rounds.h"
#include "routing/link_set.h"
#include "routing/recent_entries.h"
#include "routing/switch_graph.h"
#include "routing/tables.h"
#include "routing/update_plan.h"

namespace heddle::planned {

/// Whether packets may be under way that entries of the pass before have sent.
enum class Packets : std::uint8_t { UnderWay, Gone };

struct Pass {
  routing::ForwardingTables tables;  ///< to be written, of the switches of the graph
  /// Switches whose tables are not as wanted when this pass is confirmed.
  std::size_t behind = 0;
  /// Some entry changes. None, though switches are behind: nothing is to be done before packets are gone.
  bool writes = false;
  std::string remark;        ///< empty, or why no order is known in which it would be safe
  std::vector<Lid> staying;  ///< keep routes of an earlier order: each way to others could close a circle
  /// Some of them go on over links that are not `order.usable`.
  bool relaxed = false;
};

/// What is left of a change in which LIDs take turns. It is carried out to its end: planned anew from what a
/// pass has left behind, LIDs that have a third way meanwhile may find no order any more that closes no
/// circle.
struct Course {
  routing::ForwardingTables now;     ///< once the pass before is confirmed
  routing::ForwardingTables wanted;  ///< by who asked for it
  routing::ForwardingTables target;  ///< likewise, with ways that are kept
  routing::LinkSet up;
  routing::LinkSet usable;
  std::vector<routing::LinkSet> by_plane;
  std::vector<std::vector<routing::EntryWrite>> stages;
  std::vector<Lid> staying;  ///< as Pass::staying
  bool relaxed = false;      ///< as Pass::relaxed
};

/// The pass after `now`, on the way to `wanted`: all of it, if `now` follows another order of switches.
/// `order.up`: links that forward. Entries that work over links of `order.by_plane` stay where `wanted` has
/// no way (routing/kept_ways.h), and LIDs stay as they are that could only close a circle with these or with
/// what else stands (routing/lid_rounds.h); null: none. `recent`: by which packets are under way besides;
/// null: nobody says. `course`: of the pass before, in the same order of switches, and for the next one; it
/// is left where anything is not as it was to be. Null: planned anew each time. Preconditions: tables of the
/// graph's switches; with a course, `order.usable`.
[[nodiscard]] Pass next_pass(const routing::UpdateOrder& order, const routing::ForwardingTables& now,
                             const routing::ForwardingTables& wanted, Packets packets,
                             const routing::RecentEntries* recent = nullptr,
                             std::optional<Course>* course = nullptr);

}  // namespace heddle::planned
