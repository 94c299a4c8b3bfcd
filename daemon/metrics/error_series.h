/// Which error counters of which ports are shown where those that are zero are not
/// (metrics.skip_zero_errors). A series that appears with its first error would show no growth to who asks
/// for it: so it begins with 0, for a minute, and stays. What was above zero when the port was first looked
/// at has not grown as far as anybody knows, and is shown as it is.
#pragma once

#include <chrono>
#include <memory>
#include <mutex>
#include <vector>

#include "load/sample.h"

namespace heddle::metrics {

/// Counters of errors: those of PortCounters but XmitWait, which any busy port has.
inline constexpr load::CounterMask skippable = load::error_counters & ~load::mask(load::Counter::XmitWait);

class ErrorSeries {
 public:
  /// As zero: long enough for two scrapes at Prometheus' usual pace, or more.
  static constexpr std::chrono::seconds begins{60};

  /// By PortIndex of the sample's fabric.
  struct Shown {
    std::vector<load::CounterMask> all;   ///< have a line
    std::vector<load::CounterMask> zero;  ///< of these, have it with 0
  };

  /// Any thread; samples in the order of their numbers.
  [[nodiscard]] std::shared_ptr<const Shown> look(const load::Sample& sample);

 private:
  struct Begun {
    PortIndex port;
    load::CounterMask counters = 0;
    Instant at;
  };
  void follow(const std::shared_ptr<const Fabric>& fabric);

  std::mutex mutex_;
  std::shared_ptr<const Fabric> fabric_;
  std::uint64_t number_ = 0;
  std::vector<bool> seen_;  ///< ports that have been looked at, by PortIndex
  std::vector<Begun> begun_;
  std::shared_ptr<const Shown> shown_;
};

}  // namespace heddle::metrics
