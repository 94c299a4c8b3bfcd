/// Puts packet counts into the entries of two tables such that the classes come round often.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "qos/analyzer.h"
#include "qos/share_search.h"

namespace heddle::qos {

/// What one class asks for besides its share.
struct ClassGoal {
  std::optional<std::uint64_t> distance;
  std::optional<std::uint64_t> wait_bytes;
};

struct ArrangeProblem {
  ShareProblem shares;
  std::uint32_t packet_bytes = weight_unit_bytes;
  Rounding rounding = Rounding::Up;
  std::vector<ClassGoal> goals;  ///< high classes, then low
};

/// Class i of the high side is VL i, class j of the low side the VL after the high ones.
struct Arrangement {
  VlArbitration tables;
  Analysis analysis;
  std::uint64_t distance = 0;  ///< largest of any class
  std::uint64_t wait_bytes = 0;
};

enum class Effort : std::uint8_t {
  Quick,     ///< the even arrangements
  Thorough,  ///< and every order of the entries where they are few
};

struct Arranged {
  std::optional<Arrangement> best;  ///< that meets the goals: least distance, then least wait
  bool exhaustive = false;          ///< all arrangements of these counts were looked at
};

[[nodiscard]] Arranged arrange(const ArrangeProblem& problem, const Counts& counts, Effort effort);

/// No arrangement of these counts keeps the class's wait below this.
[[nodiscard]] std::uint64_t least_wait(const ArrangeProblem& problem, const Counts& counts,
                                       std::size_t class_index);

/// No counts with this low side, and shares within the error of use, keep the class's wait below this.
[[nodiscard]] std::uint64_t least_wait_beside(const ArrangeProblem& problem, const Counts& low_side,
                                              std::size_t class_index);

}  // namespace heddle::qos
