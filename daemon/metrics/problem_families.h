/// How many problems of each kind there are. set() and Collect() may come from different threads.
#pragma once

#include <prometheus/collectable.h>

#include <array>
#include <mutex>
#include <vector>

#include "base/problem.h"

namespace heddle::metrics {

class ProblemMetrics final : public prometheus::Collectable {
 public:
  void set(const Problems& problems);
  [[nodiscard]] std::vector<prometheus::MetricFamily> Collect() const override;

 private:
  mutable std::mutex mutex_;
  std::array<std::size_t, problem_names.size()> counts_{};
};

}  // namespace heddle::metrics
