/// How to bring switches from one set of tables to another while packets flow: in any order, where every
/// mixture of old and new entries still goes up and then down; else in stages, each confirmed by all its
/// switches before the next begins (facts/regulation.md 2). LIDs are independent of one another, so each has
/// stages of its own, and those of the same number are written together.
///
/// Nobody sends to switches that are mended for a LID but others that are. Where an entry of theirs changes
/// together with those that it leads to, and one mixture would make a turn that is not allowed, theirs are
/// taken away before and written after: hosts that only a mend joins miss packets meanwhile, and switches
/// that a mend leads to change when the packets that it sent are gone.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/result.h"
#include "routing/link_set.h"
#include "routing/mends.h"
#include "routing/ranks.h"
#include "routing/switch_graph.h"
#include "routing/tables.h"

namespace heddle::routing {

/// What a write does to the way that a switch has for a LID.
enum class Change : std::uint8_t {
  Gains,   ///< a way down, or any way
  Keeps,   ///< its direction
  Loses,   ///< its way down, or any: no packet may still be on its way there (packet_life.h)
  Follows  ///< all that was planned before it, of any LID: none of those packets may be left (lid_rounds.h)
};

struct EntryWrite {
  SwitchIndex sw;
  Lid lid;
  PortNum port;
  Change change = Change::Keeps;
};

struct UpdatePlan {
  /// None: the tables are equal. One: any order, any mixture is safe. More: one after the other.
  std::vector<std::vector<EntryWrite>> stages;
  /// LIDs whose entries must not be written in any order.
  std::size_t staged_lids = 0;

  [[nodiscard]] bool safe_in_any_order() const { return stages.size() <= 1; }
};

/// LIDs that are in no stage.
struct LeftOut {
  std::vector<Lid> refused;  ///< that would be an error
  std::vector<Lid> pausing;  ///< with takes_pausing: for which a mended switch would have to pause
  bool takes_pausing = false;
  std::vector<Lid> paused;  ///< ascending: for which it shall pause all the same
};

/// For each LID, first the switches that gain a way down (or any way), from the bottom; then those that keep
/// their direction; then those that lose it, from the top. Errors: Refused when either set of tables does not
/// go up and then down in these ranks, which names switch and LID: then only planes, or a pause, help.
/// `mends`: which switches may go down and up again, for which destinations; null: none.
[[nodiscard]] Result<UpdatePlan> plan_update(const SwitchGraph& graph, const Ranks& ranks,
                                             const ForwardingTables& before, const ForwardingTables& after,
                                             const Mends* mends = nullptr);
/// For whoever knows the blocks in which the tables may differ; others are not looked at. What leads, by way
/// of others, over a link that is not in `up` (null: all are), or to a switch without an entry, leads
/// nowhere already: what becomes of such entries comes first, among what is gained, and none of it counts as
/// lost. With `left_out`, no LID is an error.
[[nodiscard]] Result<UpdatePlan> plan_update(const SwitchGraph& graph, const Ranks& ranks,
                                             const ForwardingTables& before, const ForwardingTables& after,
                                             std::span<const BlockRef> differing,
                                             const Mends* mends = nullptr, const LinkSet* up = nullptr,
                                             LeftOut* left_out = nullptr);

/// Carries a stage out on `tables`; the blocks to send, by switch and block.
std::vector<BlockRef> apply(const std::vector<EntryWrite>& stage, ForwardingTables& tables);

}  // namespace heddle::routing
