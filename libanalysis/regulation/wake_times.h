/// What links take from the order that turns them on until they are Active, learnt from each time that they
/// came back: some take seconds, and some of the same kind minutes. What is weighed against saving, and
/// waited for, is the 95th percentile: of the link itself where it came back often enough, of all links of
/// its kind where those did, else what the operator guesses. Pure; the observations are in Memory.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <vector>

#include "base/units.h"
#include "fabric/change.h"
#include "fabric/fabric.h"

namespace heddle::regulation {

/// Of one link, the oldest first.
using Wakes = std::vector<std::chrono::milliseconds>;

/// Of one link are kept: what was learnt before a cable was replaced is forgotten after as many.
inline constexpr std::size_t most_wakes = 20;
/// From so many on the quantile holds (the issue "Hosts that move, watts that are true").
inline constexpr std::size_t least_wakes = 5;
inline constexpr double wake_quantile = 0.95;
/// What takes longer was a fault that ended, and no training: NDR links have been seen to take 3 minutes.
inline constexpr std::chrono::minutes longest_training{10};

enum class WakeSource : std::uint8_t { Configured, Kind, Link };

struct ExpectedWake {
  std::chrono::nanoseconds wake{};
  WakeSource source = WakeSource::Configured;
  std::size_t seen = 0;  ///< of the link itself
  /// Of the link itself, though it was seen too seldom for a quantile; 0: not seen.
  std::chrono::nanoseconds longest{};
  friend bool operator==(const ExpectedWake&, const ExpectedWake&) = default;
};

/// The smallest that at least this share of them is not above (nearest rank). Precondition: there is one.
[[nodiscard]] std::chrono::milliseconds quantile(Wakes wakes, double share);

/// Takes one down, and the oldest away where there are too many.
void add_wake(Wakes& wakes, std::chrono::milliseconds took);

/// By LinkIndex. Of one kind are links whose ends are of the same devices, and that are as wide and fast:
/// what is plugged in is one for all of a fabric (power.cables).
[[nodiscard]] std::vector<ExpectedWake> expected_wakes(const Fabric& fabric,
                                                       const std::map<LinkRef, Wakes>& wakes,
                                                       std::chrono::nanoseconds first_guess);

}  // namespace heddle::regulation
