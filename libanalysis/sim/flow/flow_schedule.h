/// What changes the traffic as simulated time passes: a scenario, an operator's experiment. The traffic plane
/// calls it at each of its times, before any counter is read for a later one.
#pragma once

#include <optional>

#include "base/units.h"

namespace heddle::sim {

class TrafficPlane;

class FlowSchedule {
 public:
  virtual ~FlowSchedule() = default;
  /// When to call run(); a time in the past means at once. None: never again, unless the schedule changes.
  [[nodiscard]] virtual std::optional<Picoseconds> next() const = 0;
  /// Carries out everything that is due at `at`; next() is later than `at` afterwards.
  virtual void run(TrafficPlane& plane, Picoseconds at) = 0;
  /// Everything that is still to come, and the end of what has begun, comes so much later.
  virtual void postpone(Picoseconds by) = 0;
};

}  // namespace heddle::sim
