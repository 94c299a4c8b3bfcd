/// The metrics of what stands between the daemon and OpenSM. set() and Collect() may come from different
/// threads.
#pragma once

#include <prometheus/collectable.h>

#include <atomic>
#include <vector>

namespace heddle::metrics {

struct OpenSmFigures {
  bool plugin_is_master = false;  ///< a plugin is connected, and its OpenSM is the master
  bool plan_is_on_disk = false;   ///< the one that is meant
};

class OpenSmMetrics final : public prometheus::Collectable {
 public:
  void set(const OpenSmFigures& figures) { figures_ = figures; }
  [[nodiscard]] std::vector<prometheus::MetricFamily> Collect() const override;

 private:
  std::atomic<OpenSmFigures> figures_{};
};

}  // namespace heddle::metrics
