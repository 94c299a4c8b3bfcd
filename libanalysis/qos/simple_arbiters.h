/// SBT, the simple bandwidth table (thesis, chapter 2), and plain round robin, the base line.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "qos/arbiter.h"

namespace heddle::qos {

/// When the weights of an SBT are restored.
enum class SbtRestore : std::uint8_t {
  AllUsedUp,      ///< every weight is 0 (the thesis' text)
  AllWaitingDry,  ///< one scan finds every lane waiting and without weight (its algorithm 2)
};

/// One weight per SL, in packets. The scan starts at the last lane served, so that a lane goes on while
/// weight lasts. If no waiting lane has weight left, the last waiting one found is served all the same.
class SbtArbiter {
 public:
  /// `weights[sl]`; `sl_of_lane[lane]` says whose weight a lane uses. Lanes with an SL beyond `weights` are
  /// not served.
  SbtArbiter(std::vector<std::uint32_t> weights, std::vector<std::uint8_t> sl_of_lane,
             SbtRestore restore = SbtRestore::AllUsedUp);

  [[nodiscard]] std::optional<Pick> select(Heads heads);

 private:
  struct Scan {
    std::optional<std::size_t> with_weight;  ///< first lane found that waits and has weight
    std::optional<std::size_t> last_waiting;
    bool all_waiting = true;
  };
  [[nodiscard]] Scan scan(Heads heads) const;

  std::vector<std::uint32_t> weights_;
  std::vector<std::uint32_t> left_;
  std::vector<std::uint8_t> sl_of_lane_;
  SbtRestore restore_;
  std::size_t last_ = 0;
};

class RoundRobinArbiter {
 public:
  [[nodiscard]] std::optional<Pick> select(Heads heads);

 private:
  std::size_t next_ = 0;
};

}  // namespace heddle::qos
