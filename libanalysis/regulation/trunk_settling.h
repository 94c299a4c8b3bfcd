/// What the trunk rule takes for granted, put right: that tables spread a trunk's load evenly over the links
/// that it keeps. They deal LIDs, and two that carry much may meet on one link.
#pragma once

#include <vector>

#include "regulation/evaluation.h"
#include "regulation/trunk_policy.h"

namespace heddle::regulation {

/// Puts links back where the tables would load one of a trunk above its limit; then tries to do without
/// others of that trunk instead (not on large fabrics). Returns the loads over what is left on, and mends the
/// decisions of `choice`.
[[nodiscard]] std::vector<double> settle_trunks(const SelectionProblem& problem, Evaluation& evaluation,
                                                TrunkChoice& choice);

}  // namespace heddle::regulation
