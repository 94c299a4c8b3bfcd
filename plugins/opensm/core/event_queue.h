/// Lines on their way to the daemon. Filled by OpenSM's threads, which never wait: where there are too many,
/// the oldest, which say least of how things are, are counted and gone. Emptied by the channel's thread. Safe
/// from any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <mutex>
#include <string>
#include <utility>

namespace heddle::plugin {

class EventQueue {
 public:
  static constexpr std::size_t default_capacity = 1024;

  explicit EventQueue(std::size_t capacity = default_capacity) : capacity_{capacity} {}

  /// Called after each line that was taken; must not block.
  void on_push(std::function<void()> wake) {
    const std::lock_guard lock(mutex_);
    wake_ = std::move(wake);
  }

  void push(std::string line) {
    const std::lock_guard lock(mutex_);
    if (lines_.size() >= capacity_) {
      ++dropped_;
      lines_.pop_front();
    }
    lines_.push_back(std::move(line));
    if (wake_) wake_();
  }

  /// Whoever hears a greeting from here on knows all that was pushed before it.
  void forget() {
    const std::lock_guard lock(mutex_);
    lines_.clear();
  }

  /// All lines, in the order in which they were pushed.
  [[nodiscard]] std::deque<std::string> take() {
    const std::lock_guard lock(mutex_);
    return std::exchange(lines_, {});
  }

  /// Since the start.
  [[nodiscard]] std::uint64_t dropped() const {
    const std::lock_guard lock(mutex_);
    return dropped_;
  }

 private:
  mutable std::mutex mutex_;
  std::size_t capacity_;
  std::deque<std::string> lines_;
  std::uint64_t dropped_ = 0;
  std::function<void()> wake_;
};

}  // namespace heddle::plugin
