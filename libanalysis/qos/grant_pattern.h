/// Where the low grants fall into the cyclic sequence of high turns, in the long run.
///
/// A grant comes after the packet with which the bytes since the last grant reach the limit. Let S be the
/// packet boundaries of the high sequence, drawn on a circle of its length B. "Next grant after x" = the
/// first point of S at or beyond x + limit is a monotone map of the circle of degree one, so all its periodic
/// orbits have one rotation number passes/grants, and on an orbit of `grants` points in the order of the
/// circle it is a shift by `passes` places. That the two are coprime makes everything else countable: over a
/// period, every place of the orbit is used once, and a window that spans n places sees floor or ceil of
/// n/passes grants.
#pragma once

#include <cstdint>
#include <vector>

#include "qos/tables.h"
#include "qos/turns.h"

namespace heddle::qos {

struct GrantPattern {
  std::uint64_t grants = 0;  ///< places of the orbit; 0: the low table is never served
  std::uint64_t passes = 1;  ///< of the high sequence in one orbit
  /// before[k]: places before turn k starts; a grant that comes right before turn k is before it. Size: turns
  /// + 1.
  std::vector<std::uint32_t> before;
  /// The place of one grant of the orbit, and that grant's number counted from the start of the schedule.
  std::uint64_t place = 0;
  std::uint64_t number = 0;
};

/// Precondition: the high sequence is not empty and fits 32-bit byte counts.
[[nodiscard]] GrantPattern grant_pattern(const Turns& high, HighLimit limit);

}  // namespace heddle::qos
