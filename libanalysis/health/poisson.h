/// How sure a count is.
#pragma once

#include <cmath>
#include <cstdint>

namespace heddle::health {

/// The chance that `count` or more happen by chance where `mean` are expected (Poisson).
[[nodiscard]] inline double chance_of(std::uint64_t count, double mean) {
  if (count == 0) return 1;
  // Far above: the terms that are left out are nothing beside it.
  if (static_cast<double>(count) > 2 * mean + 100) return 0;
  double term = std::exp(-mean);
  double below = 0;
  for (std::uint64_t k = 0; k < count; ++k) {
    below += term;
    term *= mean / static_cast<double>(k + 1);
  }
  return below >= 1 ? 0 : 1 - below;
}

}  // namespace heddle::health
