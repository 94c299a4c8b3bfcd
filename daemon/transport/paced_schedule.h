/// A schedule of traffic that has to be computed while a clock runs. Where that takes longer than the traffic
/// lasts, more is due each time that anybody looks, and a daemon would come to nothing else: neither MADs nor
/// whoever asks it. So what takes long is followed by as long without traffic, and all that is scheduled
/// comes later by that.
///
/// Between a traffic plane and its schedule, so that it counts whoever makes the plane go on: the pump, a MAD
/// that changes a table, a counter that is read. All must outlive it.
#pragma once

#include <chrono>

#include "sim/flow/flow_schedule.h"
#include "sim/traffic_plane.h"
#include "transport/sim_transport.h"

namespace heddle::transport {

class PacedSchedule final : public sim::FlowSchedule {
 public:
  PacedSchedule(sim::FlowSchedule& schedule, const Clock& clock) : schedule_{schedule}, clock_{clock} {}

  [[nodiscard]] std::optional<Picoseconds> next() const override { return schedule_.next(); }
  void postpone(Picoseconds by) override { schedule_.postpone(by); }

  void run(sim::TrafficPlane& plane, Picoseconds at) override {
    const Picoseconds begun = to_sim(clock_.now());
    schedule_.run(plane, at);
    const Picoseconds now = to_sim(clock_.now());
    const Picoseconds took = now - begun;
    if (took <= long_time * clock_.scale()) return;
    if (const auto next = schedule_.next(); next && *next < now + took) plane.postpone(now + took - *next);
  }

 private:
  /// At once: nobody who asks notices.
  static constexpr std::chrono::duration<double, std::pico> long_time = std::chrono::milliseconds{100};

  sim::FlowSchedule& schedule_;
  const Clock& clock_;
};

}  // namespace heddle::transport
