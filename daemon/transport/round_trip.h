/// What a round trip takes, smoothed, and how long to wait for one (Jacobson's estimator, RFC 6298). One per
/// agent, and one for all as the guess for agents not met before.
#pragma once

#include <algorithm>

#include "base/units.h"

namespace heddle::transport {

class RoundTrip {
 public:
  using Duration = FabricClock::duration;

  [[nodiscard]] bool known() const { return mean_ >= 0; }

  void sample(Duration trip) { add(static_cast<float>(trip.count()), 1.0F / 8, 1.0F / 4); }

  /// For the estimate of all agents: a few slow ones must not make every wait long.
  void sample_of_many(Duration trip) {
    const auto ns = static_cast<float>(trip.count());
    add(known() ? std::min(ns, 8 * (mean_ + 4 * deviation_) + 1000) : ns, 1.0F / 64, 1.0F / 32);
  }

  /// Longer than nearly all round trips.
  [[nodiscard]] Duration limit() const {
    return Duration{static_cast<Duration::rep>(mean_ + 4 * deviation_)};
  }

 private:
  void add(float ns, float mean_gain, float deviation_gain) {
    if (!known()) {
      mean_ = ns;
      deviation_ = ns / 2;
      return;
    }
    const float error = ns - mean_;
    deviation_ += deviation_gain * ((error < 0 ? -error : error) - deviation_);
    mean_ += mean_gain * error;
  }

  float mean_ = -1;
  float deviation_ = 0;
};

}  // namespace heddle::transport
