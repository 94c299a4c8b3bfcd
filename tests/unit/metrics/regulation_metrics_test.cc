#include "metrics/regulation_metrics.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace heddle::metrics {
namespace {

/// What is drained, and whether it is safe.
std::vector<std::pair<std::string, double>> drains(const RegulationMetrics& metrics) {
  std::vector<std::pair<std::string, double>> found;
  for (const auto& family : metrics.Collect()) {
    if (family.name != "heddle_drain_safe") continue;
    for (const auto& each : family.metric) found.emplace_back(each.label.at(0).value, each.gauge.value);
  }
  return found;
}

TEST(RegulationMetrics, TellWhatIsDrained) {
  RegulationMetrics metrics;
  EXPECT_TRUE(metrics.Collect().empty());
  RegulationFigures figures;
  figures.drained = {{"spine-1", false}, {"leaf-0/5", true}};
  metrics.publish(figures);
  EXPECT_EQ(drains(metrics),
            (std::vector<std::pair<std::string, double>>{{"spine-1", 0.0}, {"leaf-0/5", 1.0}}));
  figures.drained.clear();
  metrics.publish(figures);
  EXPECT_TRUE(drains(metrics).empty());
}

}  // namespace
}  // namespace heddle::metrics
