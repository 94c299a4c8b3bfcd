/// Desks for tests: one that does everything at once, and one that does it when it is told to.
#pragma once

#include <deque>
#include <functional>
#include <utility>

#include "base/desk.h"

namespace heddle::test {

inline Desk at_once(std::function<Instant()> now = [] { return Instant{}; }) {
  return {[](const std::function<void()>& work, const std::function<void()>& then) {
            work();
            then();
          },
          std::move(now)};
}

/// A disk that takes nothing until work() is called.
class SlowDesk {
 public:
  [[nodiscard]] Desk desk(std::function<Instant()> now) {
    return {[this](std::function<void()> work, std::function<void()> then) {
              waiting_.emplace_back(std::move(work), std::move(then));
            },
            std::move(now)};
  }
  /// What was handed over so far.
  void work() {
    for (std::size_t left = waiting_.size(); left > 0; --left) {
      const auto [work, then] = std::move(waiting_.front());
      waiting_.pop_front();
      work();
      then();
    }
  }
  [[nodiscard]] std::size_t waiting() const { return waiting_.size(); }

 private:
  std::deque<std::pair<std::function<void()>, std::function<void()>>> waiting_;
};

}  // namespace heddle::test
