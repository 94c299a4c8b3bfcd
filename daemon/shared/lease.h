/// Until when this daemon may write a fabric that daemons of several hosts share. The time is that of
/// CLOCK_BOOTTIME, which goes on while this program, or its host, is stopped: who wakes up late finds out
/// before it sends anything. Any thread.
#pragma once

#include <atomic>
#include <chrono>

namespace heddle::shared {

using BootTime = std::chrono::nanoseconds;

/// CLOCK_BOOTTIME.
[[nodiscard]] BootTime boot_time();

class Lease {
 public:
  using Clock = BootTime (*)();
  explicit Lease(Clock clock = boot_time) : clock_{clock} {}

  [[nodiscard]] BootTime now() const { return clock_(); }
  [[nodiscard]] bool held() const { return left() > BootTime::zero(); }
  /// Zero or less: not held.
  [[nodiscard]] BootTime left() const { return until_.load() - now(); }

  void hold_until(BootTime until) { until_ = until; }
  void end() { until_ = BootTime::zero(); }

 private:
  Clock clock_;
  std::atomic<BootTime> until_{BootTime::zero()};
};

}  // namespace heddle::shared
