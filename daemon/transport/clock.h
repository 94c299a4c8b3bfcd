/// The clocks that drive a fabric: real time, real time made faster or slower, and one that a test sets.
#pragma once

#include <chrono>

#include "transport/transport.h"

namespace heddle::transport {

/// Real monotonic time since the clock was made, times a scale.
class SteadyClock final : public Clock {
 public:
  explicit SteadyClock(double scale = 1) : scale_{scale} {}

  [[nodiscard]] Instant now() const override {
    const std::chrono::duration<double> passed = std::chrono::steady_clock::now() - start_;
    return Instant{std::chrono::duration_cast<FabricClock::duration>(passed * scale_)};
  }
  [[nodiscard]] double scale() const override { return scale_; }

 private:
  double scale_;
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

/// Stands still until it is set.
class ManualClock final : public Clock {
 public:
  [[nodiscard]] Instant now() const override { return now_; }
  void advance(FabricClock::duration span) { now_ += span; }

 private:
  Instant now_{};
};

}  // namespace heddle::transport
