/// Whether this daemon owns its fabric, where it does so by turns with others. set() and Collect() may come
/// from different threads.
#pragma once

#include <prometheus/collectable.h>

#include <functional>
#include <vector>

namespace heddle::metrics {

struct OwnerFigures {
  bool owns = false;
  double lease_left = 0;  ///< seconds
};

class OwnerMetrics final : public prometheus::Collectable {
 public:
  /// Asked for each scrape, on its thread.
  explicit OwnerMetrics(std::function<OwnerFigures()> figures) : figures_{std::move(figures)} {}
  [[nodiscard]] std::vector<prometheus::MetricFamily> Collect() const override;

 private:
  std::function<OwnerFigures()> figures_;
};

}  // namespace heddle::metrics
