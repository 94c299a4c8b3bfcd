/// How long OpenSM waited for each callback. Written by OpenSM's threads, read by the channel's.
#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <string_view>

namespace heddle::plugin {

enum class Callback : unsigned { Prepare, FillTables, Multicast, VlArbitration, Sl2Vl, PathSl, Report };
inline constexpr std::size_t callback_count = 7;

[[nodiscard]] constexpr std::string_view to_string(Callback callback) {
  constexpr std::array<std::string_view, callback_count> names{
      "prepare", "fill_tables", "multicast", "vl_arbitration", "sl2vl", "path_sl", "report"};
  return names[static_cast<std::size_t>(callback)];
}

class Timings {
 public:
  using Clock = std::chrono::steady_clock;

  struct Figures {
    std::atomic<std::uint64_t> calls{0};
    std::atomic<std::uint64_t> total_ns{0};
    std::atomic<std::uint64_t> longest_ns{0};
  };

  void add(Callback callback, Clock::duration time) {
    Figures& figures = figures_[static_cast<std::size_t>(callback)];
    const auto ns = static_cast<std::uint64_t>(std::chrono::nanoseconds(time).count());
    figures.calls.fetch_add(1, std::memory_order_relaxed);
    figures.total_ns.fetch_add(ns, std::memory_order_relaxed);
    std::uint64_t longest = figures.longest_ns.load(std::memory_order_relaxed);
    while (ns > longest && !figures.longest_ns.compare_exchange_weak(longest, ns)) {
    }
  }
  [[nodiscard]] const Figures& of(Callback callback) const {
    return figures_[static_cast<std::size_t>(callback)];
  }

 private:
  std::array<Figures, callback_count> figures_;
};

/// Adds the time of its own life.
class Stopwatch {
 public:
  Stopwatch(Timings& timings, Callback callback)
      : timings_{timings}, callback_{callback}, begin_{Timings::Clock::now()} {}
  Stopwatch(const Stopwatch&) = delete;
  Stopwatch& operator=(const Stopwatch&) = delete;
  ~Stopwatch() { timings_.add(callback_, Timings::Clock::now() - begin_); }

 private:
  Timings& timings_;
  Callback callback_;
  Timings::Clock::time_point begin_;
};

}  // namespace heddle::plugin
