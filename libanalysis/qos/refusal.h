/// Solves a design, and says why when there is no solution.
#pragma once

#include "qos/arrange.h"
#include "qos/designer.h"
#include "qos/sharing.h"

namespace heddle::qos {

struct Solution {
  std::optional<Arrangement> best;
  double error = 1;
  bool impossible = false;  ///< proved by lower bounds: no such tables exist
  bool least_error = false;
  bool least_distance = false;
  std::uint64_t distance_bound = 0;
};

/// The best arrangement whose shares are within `error` and that meets all goals of the problem.
[[nodiscard]] Solution solve(const ArrangeProblem& problem, double error);

/// Names the request that cannot be met, what it stands against, and the best there is.
[[nodiscard]] Error refusal(const ArrangeProblem& problem, const std::vector<SharedVl>& vls,
                            const DesignRequest& request);

}  // namespace heddle::qos
