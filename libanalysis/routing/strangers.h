/// Strangers are LIDs of nobody that is known: a host that did not answer, or whoever is behind a switch that
/// did not. Their packets go on by the entries that stand, which nobody changes, and which are in no plan.
///
/// Pure.
#pragma once

#include <span>
#include <vector>

#include "routing/lid_rounds.h"
#include "routing/tables.h"
#include "routing/update_plan.h"

namespace heddle::routing {

/// LIDs of which entries of `after`, or some mixture of these with those of `before`, could close a circle of
/// dependencies with what strangers' entries make, which are in both. None where these turn only as the order
/// and its mends allow, and none where there is such a circle already. `differing`: the blocks in which the
/// tables may differ.
[[nodiscard]] std::vector<Lid> circles_with_strangers(const UpdateOrder& order,
                                                      const ForwardingTables& before,
                                                      const ForwardingTables& after,
                                                      std::span<const BlockRef> differing);

}  // namespace heddle::routing
