/// Turns raw readings of one port into totals that only grow. Readings saturate, restart at zero after a
/// reboot or a reset by another tool, or jump for no reason: none of that may become a rate that never was.
/// Whatever cannot be known is a gap, which is counted.
#pragma once

#include <cstdint>
#include <memory>

#include "base/units.h"
#include "load/counter.h"
#include "load/reading.h"

namespace heddle::load {

/// What must be remembered of a port between readings, besides its totals. Small, since most ports are never
/// reset: what the hardware showed last is then the total itself.
struct PortCounts {
  /// Total less last reading, modulo 2^64; none while it is 0 for all counters.
  std::unique_ptr<CounterValues> ahead;
  CounterMask known = 0;      ///< counters that have been read at all
  CounterMask uncertain = 0;  ///< their growth since the last sample is not known
  CounterMask resetting = 0;  ///< a reset was sent and nobody knows whether it arrived
};

/// The most that a port can carry, to tell a jump from traffic.
struct Capacity {
  double words_per_second = 0;  ///< of 4 bytes
};

struct Advance {
  CounterMask saturated = 0;  ///< stand at their largest value
  bool gap = false;           ///< a counter went backwards or grew faster than the link is
};

/// Adds what `reading` says to `totals`. A first reading sets the total to the raw value, so that totals
/// equal what other tools read until somebody resets. `since` is the time between this reading and the last
/// of the same attribute.
Advance advance(PortCounts& port, CounterValues& totals, const Reading& reading, FabricClock::duration since,
                Capacity capacity);

/// The agent confirmed that these counters were set to zero.
void confirm_reset(PortCounts& port, const CounterValues& totals, CounterMask counters);
/// A reset was sent and no answer came.
void suspect_reset(PortCounts& port, CounterMask counters);

/// How long a narrow data counter lasts at full rate (facts/monitoring.md 1); the largest duration for a link
/// that is down.
[[nodiscard]] FabricClock::duration time_to_saturate(BitRate rate);

}  // namespace heddle::load
