#include "metrics/qos_metrics.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "metrics/metrics.h"

namespace heddle::metrics {
namespace {

using testing::HasSubstr;
using testing::Not;

TEST(QosMetrics, ShowsDriftAndWhatElseWasFound) {
  Metrics metrics;
  QosMetrics qos;
  metrics.add(qos.part());
  EXPECT_THAT(metrics.render(), HasSubstr("\nheddle_qos_drift_ports 0\n"));
  EXPECT_THAT(metrics.render(), Not(HasSubstr("heddle_qos_last_verify_timestamp_seconds")));
  qos.set({.ports = 50,
           .drift_ports = 3,
           .silent_ports = 2,
           .reduced_ports = 7,
           .reapplied = 11,
           .verified = 8.5});
  const std::string text = metrics.render();
  for (const char* line : {"heddle_qos_ports 50", "heddle_qos_drift_ports 3", "heddle_qos_silent_ports 2",
                           "heddle_qos_reduced_ports 7", "heddle_qos_reapplied_ports_total 11",
                           "heddle_qos_last_verify_timestamp_seconds 8.5"}) {
    EXPECT_THAT(text, HasSubstr(std::string{"\n"} + line + "\n"));
  }
}

}  // namespace
}  // namespace heddle::metrics
