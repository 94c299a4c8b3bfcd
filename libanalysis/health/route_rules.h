/// The rule on tables that are in force, as they were read back, whoever made them: that packets arrive, that
/// none runs in circles, and that no circle of full buffers can arise (routing/proof.h).
#pragma once

#include <vector>

#include "fabric/fabric.h"
#include "health/finding.h"
#include "routing/tables.h"

namespace heddle::health {

/// `tables`: of the switches of SwitchGraph::make(fabric). `before`: the fabric when the first of them was
/// read. What became of a link meanwhile is held against no table, and what no cable joins to most hosts is
/// not judged. One finding a place; `since` is not filled in. None where LIDs are there twice: another rule
/// tells that.
[[nodiscard]] std::vector<Finding> judge_routes(const Fabric& fabric, const Fabric& before,
                                                const routing::ForwardingTables& tables);

}  // namespace heddle::health
