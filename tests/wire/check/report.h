/// What was found: counted by kind, and the first of each kind told in full.
#pragma once

#include <map>
#include <ostream>
#include <string>
#include <vector>

#include "check/world.h"

namespace wire {

enum class Wrong : std::uint8_t {
  DeadEnd,    ///< a switch without an entry, or with one for a port without a cable
  Off,        ///< into a link that a Set has taken away
  NotActive,  ///< into a link that is not Active at both ends yet
  KnownCut,   ///< written into a link that was known to have fallen
  Loop,
  Misdelivery,
  Deadlock,        ///< a cycle of channel dependencies
  MulticastTwice,  ///< a packet comes to a switch twice, or for ever
  MulticastOff,
  StaysBroken,  ///< what a cut broke and cables could carry is not back in time
};
inline constexpr std::size_t kinds_of_wrong = 10;
[[nodiscard]] const char* name_of(Wrong wrong);

class Report {
 public:
  explicit Report(const World& world) : world_{world} {}

  /// Record `index` is the last one that was applied.
  void at(std::size_t index, Time now) {
    index_ = index;
    now_ = now;
  }
  /// `nodes`: whose MADs explain it.
  void found(Wrong kind, const std::string& text, const std::vector<int>& nodes);
  void ended(Wrong kind, Time since);
  void excused_loop() { ++excused_loops_; }
  void instant() { ++instants_; }
  void pairs(std::size_t all, std::size_t established) {
    pairs_ = all;
    established_ = established;
  }

  void ignore(Wrong kind) { ignored_.push_back(kind); }
  [[nodiscard]] bool is_clean() const;
  /// Times are counted from `start`.
  void print(std::ostream& out, Time start, const std::vector<Record>& records) const;
  /// One line of JSON.
  void print_counts(std::ostream& out) const;

 private:
  static constexpr std::size_t most_told = 5;
  struct Occasion {
    std::size_t index;
    Time time;
    std::string text;
    std::vector<int> nodes;
  };
  struct Count {
    std::size_t times = 0;  ///< events that began one
    std::size_t all = 0;    ///< pairs, groups or cycles
    Time longest = 0;
    std::size_t last_index = SIZE_MAX;
    std::vector<Occasion> first;
  };
  [[nodiscard]] bool is_ignored(Wrong kind) const;
  void print_mads(std::ostream& out, const Occasion& occasion, Time start,
                  const std::vector<Record>& records) const;

  const World& world_;
  std::size_t index_ = 0;
  Time now_ = 0;
  std::map<Wrong, Count> counts_;
  std::vector<Wrong> ignored_;
  std::size_t instants_ = 0;
  std::size_t excused_loops_ = 0;
  std::size_t pairs_ = 0;
  std::size_t established_ = 0;
};

}  // namespace wire
