/// From tables that follow no order that is known (update_plan.h refuses them) to others, LID by LID: each
/// switch after those that its new entry leads by. Whoever meets a switch with its new entry goes on by new
/// ones, and who does not goes on as before: no mixture has a circle, and none takes a path away, whatever
/// the old tables are.
///
/// Where a switch would turn packets that another still sends it in a way that the order of switches and its
/// mends do not allow, it comes after that other one, once the packets are gone. Where both cannot be had,
/// the turn is made (`turning`): perhaps with a cycle of dependencies, for as long as that takes.
#pragma once

#include <span>
#include <vector>

#include "routing/lid_rounds.h"
#include "routing/tables.h"
#include "routing/update_plan.h"

namespace heddle::routing {

struct OutwardStages {
  /// Of a LID, switches that have no path any more come last, when packets that were led there are gone; but
  /// before others that would turn their packets.
  /// Stages of the same number are written together.
  std::vector<std::vector<EntryWrite>> stages;
  std::vector<Lid> turning;
};

[[nodiscard]] OutwardStages outward_stages(const UpdateOrder& order, const ForwardingTables& before,
                                           const ForwardingTables& after, std::span<const Lid> lids);

}  // namespace heddle::routing
