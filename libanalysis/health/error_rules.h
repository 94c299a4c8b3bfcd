/// Rules on how error counters grow, and on links that go down.
#pragma once

#include <vector>

#include "health/drop_watch.h"
#include "health/error_details.h"
#include "health/finding.h"
#include "health/growth.h"
#include "health/options.h"

namespace heddle::health {

/// `since` is not filled in.
[[nodiscard]] std::vector<Finding> judge_errors(const Fabric& fabric, const Growth& growth,
                                                const DropWatch& drops, const ErrorDetails& details,
                                                const Options& options);

}  // namespace heddle::health
