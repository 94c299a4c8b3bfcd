/// Largest distance between selections of one VL, exactly and without going through the period (which may be
/// some 10^12 packets long).
///
/// Number the places of the grant orbit through all passes: grant t is at place i0 + t x passes, and a turn
/// stands between two places. Distances are then differences of counts, which change only at the places where
/// a turn starts; the largest is found at the ends of the intervals between them. A grant's place and its
/// position in the low sequence are tied only modulo gcd(grants of the orbit, grants of the low sequence).
#pragma once

#include <array>
#include <cstdint>

#include "qos/grant_pattern.h"
#include "qos/iba_arbiter.h"
#include "qos/turns.h"

namespace heddle::qos {

/// By VL; 0 where the VL is never selected.
using LargestDistances = std::array<std::uint64_t, max_data_vls>;

[[nodiscard]] LargestDistances largest_distances(const Turns& high, const Turns& low, LowGrant grant,
                                                 const GrantPattern& pattern);

/// How many grants a low turn takes.
[[nodiscard]] inline std::uint64_t grants_of(const Turn& turn, LowGrant grant) {
  return grant == LowGrant::Entry ? 1 : turn.packets;
}
[[nodiscard]] std::uint64_t grants_of(const Turns& low, LowGrant grant);

}  // namespace heddle::qos
