/// From tables that follow no order that is known (update_plan.h refuses them) to others, LID by LID: each
/// switch after those that its new entry leads by. Whoever meets a switch with its new entry goes on by new
/// ones, and who does not goes on as before: no mixture has a circle, and none takes a path away, whatever
/// the old tables are. What it cannot promise is that old and new paths together have no cycle of
/// dependencies.
#pragma once

#include <span>
#include <vector>

#include "routing/switch_graph.h"
#include "routing/tables.h"
#include "routing/update_plan.h"

namespace heddle::routing {

/// Switches that have no path any more come last.
[[nodiscard]] std::vector<std::vector<EntryWrite>> outward_stages(const SwitchGraph& graph,
                                                                  const ForwardingTables& before,
                                                                  const ForwardingTables& after,
                                                                  std::span<const Lid> lids);

}  // namespace heddle::routing
