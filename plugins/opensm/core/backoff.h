/// How long to wait before the daemon is called again. Soon, where a connection has held; ever later, where
/// none comes about or each is lost at once: so nobody fills the log of the other side. Time is an argument.
#pragma once

#include <algorithm>
#include <chrono>
#include <utility>

namespace heddle::plugin {

class Backoff {
 public:
  using Clock = std::chrono::steady_clock;

  static constexpr std::chrono::milliseconds first{500};
  static constexpr std::chrono::milliseconds longest{8000};
  /// A connection that held so long was a good one.
  static constexpr std::chrono::milliseconds good{10000};

  void connected(Clock::time_point now) { since_ = now; }

  /// The connection was lost.
  std::chrono::milliseconds lost(Clock::time_point now) {
    if (now - since_ >= good) next_ = first;
    return std::exchange(next_, std::min(2 * next_, longest));
  }

  /// Nobody listens: asking costs nothing, and a daemon that starts is to be found soon.
  [[nodiscard]] static std::chrono::milliseconds failed() { return first; }

 private:
  Clock::time_point since_{};
  std::chrono::milliseconds next_ = first;
};

}  // namespace heddle::plugin
