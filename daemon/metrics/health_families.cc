#include "metrics/health_families.h"

#include <string>

#include "metrics/family_maker.h"

namespace heddle::metrics {

void HealthMetrics::set(const health::Report& report) {
  const std::lock_guard lock{mutex_};
  judged_ = true;
  counts_ = report.counts();
}

std::vector<prometheus::MetricFamily> HealthMetrics::Collect() const {
  const std::lock_guard lock{mutex_};
  if (!judged_) return {};
  std::vector<LabelledValue> values;
  for (const health::RuleName& each : health::rule_names) {
    values.push_back({{{"rule", std::string(each.name)}},
                      static_cast<double>(counts_[static_cast<std::size_t>(each.rule)])});
  }
  return {family_of(prometheus::MetricType::Gauge, "heddle_health_findings",
                    "What is wrong with the fabric itself, by rule (docs/health.md)", std::move(values))};
}

}  // namespace heddle::metrics
