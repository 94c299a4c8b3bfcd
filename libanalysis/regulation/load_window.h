/// The highest load of every cable over the last while: what a link must be able to do without to be turned
/// off. Kept in pieces of half the length, of which the last three count: never less than the whole length.
/// One thread.
#pragma once

#include <chrono>
#include <deque>
#include <optional>

#include "base/units.h"
#include "regulation/traffic.h"

namespace heddle::regulation {

class LoadWindow {
 public:
  explicit LoadWindow(std::chrono::nanoseconds length) : length_{length} {}

  void add(Instant at, const MeasuredLoads& loads);
  /// Loads under other tables mean nothing.
  void clear();

  /// It has been filled for its whole length.
  [[nodiscard]] bool full(Instant at) const { return covers(at, length_); }
  /// It has been filled for so long.
  [[nodiscard]] bool covers(Instant at, std::chrono::nanoseconds length) const {
    return began_ && at - *began_ >= length;
  }
  [[nodiscard]] bool empty() const { return !began_; }
  /// What was never measured stays unknown. Precondition: not empty.
  [[nodiscard]] MeasuredLoads peak() const;

 private:
  std::chrono::nanoseconds length_;
  std::optional<Instant> began_;
  Instant piece_began_;
  std::deque<MeasuredLoads> pieces_;  ///< the oldest first; at most three
};

}  // namespace heddle::regulation
