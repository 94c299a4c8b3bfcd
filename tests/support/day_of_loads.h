/// A day as the scenario and the bench of whole days play it: how much hosts send by the hour, and to whom by
/// the quarter.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "sim/scenario.h"

namespace heddle::test {

inline constexpr int quarters_an_hour = 4;

/// Of a host's link, on average.
[[nodiscard]] inline double load_of_day(int quarter) {
  constexpr std::array hours{0.10, 0.08, 0.05, 0.05, 0.05, 0.08, 0.15, 0.30, 0.55, 0.80, 0.90, 0.95,
                             0.85, 0.90, 1.00, 0.95, 0.90, 0.75, 0.55, 0.40, 0.30, 0.25, 0.20, 0.15};
  return hours.at(static_cast<std::size_t>(quarter / quarters_an_hour) % hours.size());
}

/// Another one in each quarter of an hour.
[[nodiscard]] inline sim::Pattern pattern_of_day(std::uint64_t seed, int quarter) {
  constexpr std::array patterns{sim::Pattern::Uniform,  sim::Pattern::Permutation,   sim::Pattern::Neighbour,
                                sim::Pattern::AllToAll, sim::Pattern::BitComplement, sim::Pattern::Hotspot,
                                sim::Pattern::Tornado};
  return patterns.at((seed + static_cast<std::uint64_t>(quarter)) % patterns.size());
}

}  // namespace heddle::test
