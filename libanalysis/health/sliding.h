/// How much some counters of one port grew within two windows that slide, in steps: what happened in the
/// oldest step is forgotten at once.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>

#include "base/units.h"

namespace heddle::health {

inline constexpr int window_steps = 12;
inline constexpr int long_window_steps = 25;

template <std::size_t Kinds>
class Sliding {
 public:
  void add(std::size_t kind, std::uint64_t growth) {
    window_.add(kind, growth);
    long_window_.add(kind, growth);
  }
  /// The windows move on by so many of their steps.
  void turn(std::size_t by, std::size_t long_by) {
    window_.turn(by);
    long_window_.turn(long_by);
  }
  /// As if it had not grown in the last step and the one before it.
  void forgive(std::size_t kind) {
    window_.forgive(kind);
    long_window_.forgive(kind);
  }
  [[nodiscard]] std::uint64_t recent(std::size_t kind) const { return window_.sums[kind]; }
  [[nodiscard]] std::uint64_t all(std::size_t kind) const { return long_window_.sums[kind]; }
  [[nodiscard]] bool empty() const {
    const auto nothing = [](std::uint64_t sum) { return sum == 0; };
    return std::ranges::all_of(window_.sums, nothing) && std::ranges::all_of(long_window_.sums, nothing);
  }

 private:
  template <int Steps>
  struct Ring {
    std::array<std::array<std::uint32_t, Kinds>, Steps> steps{};
    std::array<std::uint64_t, Kinds> sums{};
    std::size_t at = 0;

    void add(std::size_t kind, std::uint64_t growth) {
      std::uint32_t& step = steps[at][kind];
      const std::uint64_t more =
          std::min<std::uint64_t>(growth, std::numeric_limits<std::uint32_t>::max() - step);
      step += static_cast<std::uint32_t>(more);
      sums[kind] += more;
    }
    void turn(std::size_t by) {
      for (std::size_t i = 0; i < std::min(by, steps.size()); ++i) {
        at = (at + 1) % steps.size();
        for (std::size_t kind = 0; kind < Kinds; ++kind) sums[kind] -= steps[at][kind];
        steps[at] = {};
      }
    }
    void forgive(std::size_t kind) {
      for (const std::size_t step : {at, (at + steps.size() - 1) % steps.size()}) {
        sums[kind] -= steps[step][kind];
        steps[step][kind] = 0;
      }
    }
  };

  Ring<window_steps> window_;
  Ring<long_window_steps> long_window_;
};

/// When the windows move on.
class StepClock {
 public:
  StepClock(FabricClock::duration window, FabricClock::duration long_window)
      : step_{std::max(window / window_steps, FabricClock::duration{1})},
        long_step_{std::max(long_window / long_window_steps, FabricClock::duration{1})} {}

  struct Steps {
    std::size_t by = 0;
    std::size_t long_by = 0;
  };
  /// Steps since the last call.
  Steps advance(Instant now) {
    const auto since = [&](FabricClock::duration step, std::int64_t& turned) {
      const std::int64_t before = turned;
      turned = std::max(before, now.time_since_epoch() / step);
      return static_cast<std::size_t>(turned - before);
    };
    return {since(step_, turned_), since(long_step_, long_turned_)};
  }

 private:
  FabricClock::duration step_;
  FabricClock::duration long_step_;
  std::int64_t turned_ = 0;
  std::int64_t long_turned_ = 0;
};

}  // namespace heddle::health
