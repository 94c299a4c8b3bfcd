/// What the trunk rule takes for granted, put right: that tables spread a trunk's load evenly over the links
/// that it keeps. They deal LIDs, and two that carry much may meet on one link.
#pragma once

#include <span>
#include <vector>

#include "regulation/evaluation.h"
#include "regulation/trunk_policy.h"

namespace heddle::regulation {

/// Puts links back where the tables of any of the planes would load one of a trunk above its limit; then
/// tries to do without others of that trunk instead. Returns the loads of each plane over what is left on,
/// and mends the decisions of `choice`.
[[nodiscard]] std::vector<std::vector<double>> settle_trunks(const SelectionProblem& problem,
                                                             std::span<Evaluation> planes,
                                                             TrunkChoice& choice);

}  // namespace heddle::regulation
