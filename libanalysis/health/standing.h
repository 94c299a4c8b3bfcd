/// Rules on the fabric as a sweep finds it: what runs slower than it can, what is there twice.
#pragma once

#include <set>
#include <vector>

#include "fabric/change.h"
#include "health/finding.h"
#include "mad/survey.h"

namespace heddle::health {

/// `willed`: links that somebody keeps off or reduced on purpose; they are not judged. `since` is not filled
/// in.
[[nodiscard]] std::vector<Finding> judge_standing(const Survey& survey, const std::set<LinkRef>& willed);

}  // namespace heddle::health
