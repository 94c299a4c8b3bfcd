/// Which writes of forwarding tables are one repair: no block twice, and no pause in which no answer is
/// waited for. They go out in one go, however long a busy machine takes over it, up to 50 ms.
#pragma once

#include <cstdint>
#include <set>
#include <utility>

#include "check/recording.h"

namespace wire {

class Batch {
 public:
  using Block = std::pair<int, std::uint32_t>;  ///< a switch, and the number of a block

  void sent(std::uint64_t request, Block block, Time now) {
    const bool paused = waited_for_.empty() && now - last_ >= pause;
    if (paused || now - began_ >= longest || !written_.insert(block).second) {
      began_ = now;
      written_ = {block};
    }
    waited_for_.insert(request);
    last_ = now;
  }

  /// It was answered, or given up.
  void ended(std::uint64_t request, Time now) {
    if (waited_for_.erase(request) != 0) last_ = now;
  }

  /// That of the last write.
  [[nodiscard]] Time began() const { return began_; }

 private:
  static constexpr Time pause = 1'000'000;
  static constexpr Time longest = 50'000'000;

  Time began_ = 0;
  Time last_ = 0;  ///< when something was sent, or heard
  std::set<Block> written_;
  std::set<std::uint64_t> waited_for_;
};

}  // namespace wire
