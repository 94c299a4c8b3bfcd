#include "sim/training.h"

#include <algorithm>
#include <chrono>
#include <cmath>

#include "base/random.h"

namespace heddle::sim {
namespace {

/// A time from 0 on has no ratio to others.
constexpr Picoseconds least_drawn = std::chrono::milliseconds{100};
/// One training differs from the link's own time by at most this share of it.
constexpr double spread = 0.2;

double in_seconds(Picoseconds time) { return std::chrono::duration<double>(time).count(); }

}  // namespace

Picoseconds training_time(const TrainingTimes& times, LinkIndex link, std::uint32_t training) {
  const double least = in_seconds(std::max(times.shortest, std::min(least_drawn, times.longest)));
  const double most = in_seconds(times.longest);
  if (most <= least) return times.longest;
  Random of_link{times.seed ^ (std::uint64_t{link.raw()} + 1) << 32U};
  const double own = least * std::pow(most / least, of_link.unit());
  Random of_training{of_link() + training};
  const double drawn = own * (1 - spread + 2 * spread * of_training.unit());
  return std::chrono::duration_cast<Picoseconds>(
      std::chrono::duration<double>(std::clamp(drawn, least, most)));
}

}  // namespace heddle::sim
