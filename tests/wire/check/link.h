/// What is known of a cable: whether packets may be led over it. Off from the moment in which a Set that
/// takes it away is sent, until requests that were sent after that Set's answer have been answered "Active"
/// by both ends. What a test cut, and what fell by itself, is told apart from what a Set took away.
#pragma once

#include <algorithm>
#include <array>
#include <map>

#include "check/recording.h"

namespace wire {

/// When a program sent what put an entry there, and which one.
struct Written {
  Time at = 0;
  int by = -1;  ///< -1: nobody knows
};

class Link {
 public:
  /// A Set is sent that takes it away, or has it train (PortPhysicalState Polling).
  enum class Taken : std::uint8_t { Away, Training };
  void taken(Taken how, Time now) {
    if (!is_held_) held_since_ = now;
    is_held_ = true;
    training_ = how == Taken::Training;
    active_ = {};
    barrier_ = now;
  }
  /// Such a Set was answered, or given up: what was asked before then tells nothing.
  void taking_ended(Time now) { barrier_ = now; }

  void cut(Time now) {
    // A test says that it cuts before it does. What is raised meanwhile is Active until then, though one end
    // said so, or was asked, before the test did.
    const Time barrier = barrier_;
    const auto raised = is_usable() ? std::array<bool, 2>{} : active_;
    ++cuts_;
    fell(now);
    cut_at_ = now;
    barrier_ = barrier;
    active_since_cut_ = raised;
  }
  void mended(Time now) {
    if (cuts_ == 0) return;  // nothing trains when a cable is plugged in that is there
    --cuts_;
    active_ = {};
    barrier_ = now;
  }

  enum class State : std::uint8_t { Active, Armed, Other };
  /// An answer tells a program what state the port at this end is in.
  void heard(int process, std::size_t end, State state, Time asked, Time now) {
    const bool is_active = state == State::Active;
    if (asked <= barrier_ || (asked <= cut_at_ && (!is_active || cuts_ == 0))) return;
    was_heard_ = true;
    if (is_active && cuts_ == 0) {
      active_[end] = true;
      active_asked_[end] = std::max(active_asked_[end], asked);  // answers may overtake each other
      active_heard_[end] = now;
      if (is_usable()) is_held_ = fell_ = training_ = false;
      return;
    }
    if (is_active) {
      not_cut_yet(end, now);
      return;
    }
    // Of two programs that ask at once the later one may have been asked first: that it is not Active yet.
    const Time known = state == State::Armed ? active_heard_[end] : active_asked_[end];
    if (active_[end] && asked > known) {
      if (is_usable()) fell(now);
      active_[end] = false;
    }
    // It is really cut by now: what was asked before says nothing of it any more.
    barrier_ = std::max(barrier_, cut_at_);
    if (state == State::Other) active_since_cut_[end] = false;
    if (fell_) seen_.try_emplace(process, now);
  }

  [[nodiscard]] bool is_usable() const { return active_[0] && active_[1] && cuts_ == 0; }
  [[nodiscard]] bool is_unknown() const { return !was_heard_ && !is_held_ && !fell_; }
  [[nodiscard]] bool is_training() const { return training_ || !is_held_; }
  [[nodiscard]] bool is_cut() const { return cuts_ > 0; }
  [[nodiscard]] Time held_since() const { return held_since_; }

  /// Whether an entry leads into it by no fault of the tables: it fell, and whoever wrote the entry could not
  /// have read so. `grace`: what lies between an answer and a program's acting on it.
  [[nodiscard]] bool excuses(Written entry, Time grace) const {
    if (is_forced_) return true;
    if (!fell_ || (is_held_ && held_since_ < fell_since_)) return false;
    const Time seen = seen_by(entry.by);
    return seen == 0 || entry.at <= seen + grace;
  }
  [[nodiscard]] bool has_fallen() const { return fell_ && !(is_held_ && held_since_ < fell_since_); }

  /// An operator took it away though hosts are behind it.
  void force(bool forced) { is_forced_ = forced; }
  [[nodiscard]] bool is_forced() const { return is_forced_; }

 private:
  /// Since when that program has known, or, where nobody knows which, anyone; 0: not yet.
  [[nodiscard]] Time seen_by(int process) const {
    if (process >= 0) {
      const auto seen = seen_.find(process);
      return seen == seen_.end() ? 0 : seen->second;
    }
    const auto first = std::min_element(seen_.begin(), seen_.end(),
                                        [](const auto& a, const auto& b) { return a.second < b.second; });
    return first == seen_.end() ? 0 : first->second;
  }

  /// A test says that it cuts before it does. Both ends were Active since: it falls later, and nobody has
  /// seen that.
  void not_cut_yet(std::size_t end, Time now) {
    active_since_cut_[end] = true;
    if (!active_since_cut_[0] || !active_since_cut_[1]) return;
    fell_ = false;
    is_held_ = training_ = false;
    fell(now);
  }

  void fell(Time now) {
    if (!fell_) {
      fell_since_ = now;
      seen_.clear();
    }
    fell_ = true;
    active_ = active_since_cut_ = {};
    barrier_ = now;
  }

  std::array<bool, 2> active_{};
  std::array<bool, 2> active_since_cut_{};
  std::array<Time, 2> active_asked_{};
  std::array<Time, 2> active_heard_{};
  Time barrier_ = 0;  ///< only what was asked later tells anything
  Time cut_at_ = 0;   ///< the same for all but that an end is still Active
  bool was_heard_ = false;
  int cuts_ = 0;  ///< by a test: the cable itself, and a node at its end
  bool fell_ = false;
  Time fell_since_ = 0;
  std::map<int, Time> seen_;  ///< by process: the first answer that told it so
  bool is_held_ = false;
  bool training_ = false;
  Time held_since_ = 0;
  bool is_forced_ = false;
};

}  // namespace wire
