/// How fast somebody asks who is a guest in a fabric that another subnet manager runs: so many requests a
/// second, a few at a time, whichever of his questions they belong to. VL15 has no flow control, and what it
/// drops is the subnet manager's.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "base/units.h"

namespace heddle::transport {

class Pace {
 public:
  /// 0: as fast as can be.
  explicit Pace(std::uint32_t per_second) {
    if (per_second > 0) period_ = FabricClock::duration{std::chrono::seconds{1}} / per_second;
  }

  [[nodiscard]] bool is_limited() const { return period_ > FabricClock::duration::zero(); }

  /// Takes a turn. If it is too early for one: when to come again.
  [[nodiscard]] std::optional<Instant> take(Instant now) {
    // What was not sent in time is not made up for.
    due_ = std::max(due_, now - at_a_time * period_);
    if (now < due_) return due_ + (at_a_time - 1) * period_;
    due_ += period_;
    return std::nullopt;
  }

  /// A turn that was promised.
  struct Promise {
    std::optional<Instant> at;
  };
  /// As above, for who asks beside sweeps, which may follow each other without end and always come first.
  /// When he comes again as he was told, the turn is his, and the next ones of all are later by it.
  [[nodiscard]] std::optional<Instant> take(Instant now, Promise& promise) {
    if (!promise.at) return promise.at = take(now);
    if (now < *promise.at) return promise.at;
    promise.at.reset();
    due_ = std::max(due_, now - at_a_time * period_) + period_;
    return std::nullopt;
  }

  /// Requests under way at the same time, of each who asks.
  static constexpr std::size_t most_asked = 8;

 private:
  /// Turns that may be taken together: fewer wake-ups.
  static constexpr int at_a_time = 4;

  FabricClock::duration period_{};
  Instant due_;  ///< of the next turn
};

}  // namespace heddle::transport
