/// What waits for those who are told of events and problems. set() and Collect() may come from different
/// threads.
#pragma once

#include <prometheus/collectable.h>

#include <cstdint>
#include <mutex>
#include <string>
#include <vector>

namespace heddle::metrics {

struct NotifyFigures {
  std::string destination;
  std::uint64_t queued = 0;
  std::uint64_t sent = 0;
  std::uint64_t failures = 0;
  std::uint64_t dropped = 0;
};

/// No family where there is no destination.
class NotifyMetrics final : public prometheus::Collectable {
 public:
  void set(std::vector<NotifyFigures> figures);
  [[nodiscard]] std::vector<prometheus::MetricFamily> Collect() const override;

 private:
  mutable std::mutex mutex_;
  std::vector<NotifyFigures> figures_;
};

}  // namespace heddle::metrics
