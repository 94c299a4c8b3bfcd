/// How many findings of each rule there are. set() and Collect() may come from different threads.
#pragma once

#include <prometheus/collectable.h>

#include <array>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "cabling/check.h"
#include "health/bit_errors.h"
#include "health/finding.h"

namespace heddle::metrics {

class HealthMetrics final : public prometheus::Collectable {
 public:
  void set(const health::Report& report,
           std::shared_ptr<const std::vector<health::PortBitErrors>> bit_errors);
  /// Against the baseline; null: there is none, or it has not been compared.
  void set_cables(const cabling::CableCheck* check);
  /// Nothing before the first report: nobody has looked.
  [[nodiscard]] std::vector<prometheus::MetricFamily> Collect() const override;

 private:
  mutable std::mutex mutex_;
  bool judged_ = false;
  std::array<std::size_t, health::rule_count> counts_{};
  std::shared_ptr<const std::vector<health::PortBitErrors>> bit_errors_;
  /// Missing, swapped, unexpected, at another rate.
  std::optional<std::array<std::size_t, 4>> cables_;
};

}  // namespace heddle::metrics
