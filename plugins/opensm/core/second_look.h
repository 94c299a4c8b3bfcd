/// When OpenSM is to look at the fabric again before a plan is given up. What it knows of ports is as old as
/// its last heavy sweep, but for what they answered to its own requests: a link that has become Active since,
/// and of which that word was lost, counts as none, and no light sweep finds out. Then a plan that is good
/// may seem to cut hosts off. OpenSM's routing thread.
#pragma once

#include <chrono>
#include <cstddef>
#include <optional>

namespace heddle::plugin {

class SecondLook {
 public:
  using Clock = std::chrono::steady_clock;
  /// A fabric in which links really stay as they are is not swept for it again and again.
  static constexpr std::chrono::seconds apart{30};

  /// After a routing. `relaxed`: hosts would be cut off, as it seems. `waiting`: links between switches that
  /// are there, and not Active as far as OpenSM knows.
  [[nodiscard]] bool is_due(bool relaxed, std::size_t waiting, Clock::time_point now) {
    if (!relaxed || waiting == 0 || (last_ && now - *last_ < apart)) return false;
    last_ = now;
    return true;
  }

 private:
  std::optional<Clock::time_point> last_;
};

}  // namespace heddle::plugin
