#include "metrics/problem_families.h"

#include <string>

#include "metrics/family_maker.h"

namespace heddle::metrics {

void ProblemMetrics::set(const Problems& problems) {
  const std::lock_guard lock{mutex_};
  counts_ = {};
  for (const Problem& problem : problems) ++counts_[static_cast<std::size_t>(problem.kind)];
}

std::vector<prometheus::MetricFamily> ProblemMetrics::Collect() const {
  const std::lock_guard lock{mutex_};
  std::vector<LabelledValue> values;
  for (const ProblemName& each : problem_names) {
    values.push_back({{{"kind", std::string(each.name)}},
                      static_cast<double>(counts_[static_cast<std::size_t>(each.kind)])});
  }
  return {family_of(prometheus::MetricType::Gauge, "heddle_problems",
                    "What the configuration asks for and is not being done, by kind (docs/problems.md)",
                    std::move(values))};
}

}  // namespace heddle::metrics
