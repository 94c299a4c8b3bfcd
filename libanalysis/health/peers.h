/// Rules on what differs from its peers: a device that is another one than those around it, or another
/// revision of it. Whoever replaces a switch or an adapter by one of another make, or forgets one while all
/// others are renewed, is told.
#pragma once

#include <vector>

#include "health/finding.h"
#include "mad/survey.h"

namespace heddle::health {

/// By NodeInfo. `since` is not filled in.
[[nodiscard]] std::vector<Finding> judge_peers(const Survey& survey);

}  // namespace heddle::health
