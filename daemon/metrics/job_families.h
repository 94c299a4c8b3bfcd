/// What jobs put on the fabric. set() and Collect() may come from different threads.
#pragma once

#include <prometheus/collectable.h>

#include <mutex>
#include <string>
#include <vector>

#include "jobs/report.h"

namespace heddle::metrics {

class JobMetrics final : public prometheus::Collectable {
 public:
  /// More have no metrics of their own: every job is a series of its own for as long as Prometheus keeps it.
  static constexpr std::size_t most = 200;

  /// `newest`: positions in the report; the oldest are left out.
  void set(const jobs::Report& report, const std::vector<std::size_t>& newest);
  /// Nothing before the first report.
  [[nodiscard]] std::vector<prometheus::MetricFamily> Collect() const override;

 private:
  struct One {
    std::string job;
    std::string user;
    jobs::JobFigures figures;
  };

  mutable std::mutex mutex_;
  bool known_ = false;
  std::size_t running_ = 0;
  std::vector<One> jobs_;
};

}  // namespace heddle::metrics
