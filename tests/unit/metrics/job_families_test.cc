#include "metrics/job_families.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <prometheus/metric_family.h>

#include <numeric>

#include "fabric/generators.h"

namespace heddle::metrics {
namespace {

TEST(JobMetrics, AreOfTheNewestJobsAndNotOfMore) {
  JobMetrics metrics;
  EXPECT_TRUE(metrics.Collect().empty());
  std::vector<jobs::Job> jobs;
  for (std::size_t i = 0; i < JobMetrics::most + 50; ++i)
    jobs.push_back({std::to_string(i), "a\x1b", "", {}});
  const std::shared_ptr<const Fabric> fabric = *generate("tree:k=2,n=2");
  const jobs::Report report =
      jobs::report(fabric, std::vector<jobs::PortLoad>(fabric->ports().size()), std::move(jobs));
  std::vector<std::size_t> newest(report.jobs.size());
  std::iota(newest.rbegin(), newest.rend(), std::size_t{0});
  metrics.set(report, newest);
  const auto families = metrics.Collect();
  for (const auto& family : families) {
    if (family.name == "heddle_jobs") {
      EXPECT_EQ(family.metric.front().gauge.value, 250);
    }
    if (family.name != "heddle_job_hosts") continue;
    ASSERT_EQ(family.metric.size(), JobMetrics::most);
    EXPECT_EQ(family.metric.front().label.front().value, "249");
    EXPECT_EQ(family.metric.front().label.back().value, "a?");
  }
  EXPECT_EQ(families.size(), 4U) << "nobody sends, so no share leaves a leaf";
}

}  // namespace
}  // namespace heddle::metrics
