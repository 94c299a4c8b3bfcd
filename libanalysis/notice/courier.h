/// When one destination is sent something: what comes together goes together, not more than one message in a
/// while, and after a failure later and later. Decides only; notify/ sends. Pure; time is an argument.
#pragma once

#include <chrono>
#include <optional>
#include <string>

#include "base/units.h"

namespace heddle::notice {

struct CourierOptions {
  /// From one message to the next, at least, and from the first notice to the message that has it.
  FabricClock::duration spacing = std::chrono::seconds{1};
  FabricClock::duration first_retry = std::chrono::seconds{1};  ///< doubled with each failure
  FabricClock::duration longest_retry = std::chrono::minutes{5};
  std::size_t most_in_message = 100;
  /// So many failures, one after another, are a problem: a receiver that is started again is none.
  unsigned failures_of_a_problem = 4;
  /// A message without notices goes after so long, where there is something to repeat; none: never.
  std::optional<FabricClock::duration> refresh{};
};

class Courier {
 public:
  explicit Courier(const CourierOptions& options = {}) : options_{options} {}

  /// Something waits for this destination, or nothing does.
  void waits(bool anything, Instant now);
  /// There is something to repeat, or there is not.
  void repeats(bool anything) { repeats_ = anything; }

  /// When a message is to go; none while one is under way, or where there is nothing to send.
  [[nodiscard]] std::optional<Instant> next() const;
  /// How many notices it may have.
  [[nodiscard]] std::size_t most() const { return alone_ > 0 ? 1 : options_.most_in_message; }

  void began() { under_way_ = true; }
  void delivered(Instant now);
  /// It is sent again.
  void failed(std::string why, Instant now);
  /// The receiver answers, and will never take this message of so many notices: they go one by one, to find
  /// out which it is. One alone is not sent again: the caller drops it.
  void refused(std::string why, std::size_t notices, Instant now);

  [[nodiscard]] bool is_a_problem() const { return failures_ >= options_.failures_of_a_problem; }
  [[nodiscard]] bool fails() const { return failures_ > 0; }
  /// Of the last failure; empty when the last message was taken.
  [[nodiscard]] const std::string& why() const { return why_; }

 private:
  CourierOptions options_;
  std::optional<Instant> waiting_since_;
  bool repeats_ = false;
  bool under_way_ = false;
  std::size_t alone_ = 0;  ///< so many go one by one
  unsigned failures_ = 0;
  std::optional<Instant> not_before_;
  std::optional<Instant> last_;  ///< delivered
  std::string why_;
};

}  // namespace heddle::notice
