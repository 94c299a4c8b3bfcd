/// What is to be done at a later instant, or as soon as the caller has come back: callbacks are never called
/// from within the call that they answer. For state machines with on_timer() and next_deadline().
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <utility>

#include "base/units.h"

namespace heddle::authority {

class Deferred {
 public:
  using What = std::function<void(Instant now)>;

  /// Those of one instant are done in their sequence.
  void at(Instant when, What what) { due_.emplace(when, std::move(what)); }

  /// Does what is due; what comes up meanwhile for now waits for the next call.
  void on_timer(Instant now) {
    const auto end = due_.upper_bound(now);
    std::multimap<Instant, What> due;
    while (due_.begin() != end) due.insert(due.end(), due_.extract(due_.begin()));
    for (const auto& [when, what] : due) what(now);
  }
  [[nodiscard]] std::optional<Instant> next_deadline() const {
    return due_.empty() ? std::nullopt : std::optional{due_.begin()->first};
  }

 private:
  std::multimap<Instant, What> due_;
};

}  // namespace heddle::authority
