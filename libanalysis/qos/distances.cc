#include "qos/distances.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <vector>

#include "qos/residues.h"

namespace heddle::qos {
namespace {

using Count = std::int64_t;
constexpr Count most_listed = 4096;
constexpr Count never = std::numeric_limits<Count>::max() / 4;

Count ceil_div(Count a, Count b) { return a <= 0 ? 0 : (a + b - 1) / b; }
Count modulo(Count a, Count b) {
  const Count rest = a % b;
  return rest < 0 ? rest + b : rest;
}

/// Consecutive grants to one VL in the low sequence.
struct Run {
  Count first = 0;
  Count length = 0;
};

/// Positions of the low sequence after which the VL's next grant comes so many grants later.
struct Gap {
  Count grants = 0;
  Run positions;
};

/// A lifted turn and the places before it.
struct Next {
  Count turn = never;
  Count place = never;
};

/// Between two turns of the VL, lifted.
struct TurnGap {
  Count bound = 0;  ///< of the distance, without regard to the class of places
  Count from = 0;
  Count to = 0;
};

class DistanceFinder {
 public:
  DistanceFinder(const Turns& high, const Turns& low, LowGrant grant, const GrantPattern& pattern)
      : turns_{static_cast<Count>(high.list.size())},
        places_{static_cast<Count>(pattern.grants)},
        passes_{static_cast<Count>(pattern.passes)},
        pattern_{pattern} {
    for (Count k = 0; k < turns_; ++k) high_turns_[high.list[static_cast<std::size_t>(k)].vl].push_back(k);
    if (places_ == 0) return;
    for (const auto& turn : low.list) {
      const auto length = static_cast<Count>(grants_of(turn, grant));
      runs_[turn.vl].push_back({low_grants_, length});
      low_grants_ += length;
    }
    tie_ = std::gcd(places_, low_grants_);
    fill_started();
  }

  std::uint64_t largest(unsigned vl) {
    best_ = 0;
    low_gaps(vl);
    high_gaps(vl);
    return static_cast<std::uint64_t>(best_);
  }

 private:
  /// Places before lifted turn k.
  [[nodiscard]] Count before(Count k) const {
    return places_ * (k / turns_) + pattern_.before[static_cast<std::size_t>(k % turns_)];
  }
  /// Turns that started before the grant at a lifted place.
  [[nodiscard]] Count started(Count place) const {
    return turns_ * (place / places_) + started_in_pass(place % places_);
  }
  [[nodiscard]] Count started_in_pass(Count place) const {
    if (!started_.empty()) return started_[static_cast<std::size_t>(place)];
    const auto after = std::upper_bound(pattern_.before.begin(), pattern_.before.end() - 1,
                                        static_cast<std::uint32_t>(place));
    return after - pattern_.before.begin();
  }

  /// Of few places a list is made: it is asked often.
  void fill_started() {
    if (places_ > most_listed) return;
    started_.resize(static_cast<std::size_t>(places_));
    for (Count k = 0; k < turns_; ++k) {
      std::fill(started_.begin() + before(k), started_.begin() + before(k + 1),
                static_cast<std::uint32_t>(k + 1));
    }
  }

  /// Places modulo `tie_` of the grants that are at position x of the low sequence.
  [[nodiscard]] Count class_of(Count x) const {
    const Count since = modulo(x - static_cast<Count>(pattern_.number % pattern_.grants), tie_);
    return modulo(static_cast<Count>(pattern_.place) + since * (passes_ % tie_), tie_);
  }

  /// Of the places of the grants at these positions of the low sequence.
  [[nodiscard]] Progression classes_of(const Run& positions) const {
    return {class_of(positions.first), passes_ % tie_, std::min(positions.length, tie_), tie_};
  }

  // Gaps that start with a low grant of the VL.

  void low_gaps(unsigned vl) {
    const auto& runs = runs_[vl];
    if (runs.empty()) return;
    find_next_turns(vl);
    gaps_.clear();
    for (std::size_t i = 0; i < runs.size(); ++i) {
      const Run& run = runs[i];
      gaps_.push_back({after_run(runs, i), {run.first + run.length - 1, 1}});
      if (run.length > 1) gaps_.push_back({1, {run.first, run.length - 1}});
    }
    std::ranges::sort(gaps_, std::ranges::greater{}, &Gap::grants);
    for (std::size_t first = 0; first < gaps_.size();) {
      const Count grants = gaps_[first].grants;
      // Without regard to the class of the place: an upper bound, and no shorter gap has a larger one.
      const Count bound = after_grant(grants, nullptr);
      if (bound <= best_) return;
      std::size_t last = first;
      while (last < gaps_.size() && gaps_[last].grants == grants) ++last;
      find_classes(first, last);
      if (classes_.full()) {
        best_ = bound;
        return;
      }
      best_ = std::max(best_, after_grant(grants, &classes_));
      first = last;
    }
  }

  /// The classes of places at which these gaps start.
  void find_classes(std::size_t first, std::size_t last) {
    Count positions = 0;
    for (std::size_t i = first; i < last; ++i) positions += std::min(gaps_[i].positions.length, tie_);
    classes_.begin(tie_, positions);
    for (std::size_t i = first; i < last; ++i) classes_.add(classes_of(gaps_[i].positions));
    classes_.end();
  }

  /// Grants from the last of a run to the first of the next.
  [[nodiscard]] Count after_run(const std::vector<Run>& runs, std::size_t i) const {
    const Count next = i + 1 < runs.size() ? runs[i + 1].first : runs[0].first + low_grants_;
    return next - runs[i].first - runs[i].length + 1;
  }

  /// Per turn of the sequence, the lifted turn at or after it that serves the VL.
  void find_next_turns(unsigned vl) {
    next_turn_.assign(static_cast<std::size_t>(turns_) + 1, Next{});
    const auto& mine = high_turns_[vl];
    if (mine.empty()) return;
    Next next{mine.front() + turns_, before(mine.front() + turns_)};
    auto at = mine.rbegin();
    for (Count k = turns_; k >= 0; --k) {
      if (at != mine.rend() && *at == k) {
        next = {k, before(k)};
        ++at;
      }
      next_turn_[static_cast<std::size_t>(k)] = next;
    }
  }

  /// Largest distance from a grant, at a place of one of the classes (none given: of any), to the VL's next
  /// turn or to its next grant.
  [[nodiscard]] Count after_grant(Count gap, const ResidueSet* classes) const {
    const Count ahead = gap * passes_;
    const Count ahead_turns = ahead / places_ * turns_;
    const Count ahead_places = ahead % places_;
    Count largest = 0;
    for (Count k = 0; k < turns_; ++k) {
      const Count begin = pattern_.before[static_cast<std::size_t>(k)];
      const Count end = pattern_.before[static_cast<std::size_t>(k) + 1];
      if (begin == end) continue;
      const Next next = next_turn_[static_cast<std::size_t>(k) + 1];
      Count place = std::max(begin, next.place - ahead);
      if (place < end) {  // to the next turn: the earlier, the longer
        if (classes != nullptr) place += classes->ahead(place);
        const Count turns = next.turn - (k + 1);
        if (place < end && next.place - place > (largest - turns) * passes_) {
          largest = std::max(largest, turns + ceil_div(next.place - place, passes_));
        }
      }
      place = std::min(end, next.place - ahead) - 1;
      if (place >= begin) {  // to the next grant: the later, the longer
        if (classes != nullptr) place -= classes->behind(place);
        if (place >= begin) {
          Count to = place + ahead_places;
          Count turns = ahead_turns - (k + 1);
          if (to >= places_) {
            to -= places_;
            turns += turns_;
          }
          largest = std::max(largest, gap + turns + started_in_pass(to));
        }
      }
    }
    return largest;
  }

  // Gaps that start with a high turn of the VL.

  void high_gaps(unsigned vl) {
    const auto& mine = high_turns_[vl];
    const bool in_low = !runs_[vl].empty();
    const Count longest_wait = in_low ? longest_low_wait(runs_[vl]) : never;
    turn_gaps_.clear();
    for (std::size_t i = 0; i < mine.size(); ++i) {
      const Count from = mine[i];
      const Count to = i + 1 < mine.size() ? mine[i + 1] : mine.front() + turns_;
      if (places_ == 0) {
        best_ = std::max(best_, to - from);
      } else if (!in_low) {
        best_ = std::max(best_, to - from + ceil_div(before(to) - before(from), passes_));
      } else {
        turn_gaps_.push_back({most_after_turn(from, to, longest_wait), from, to});
      }
    }
    std::ranges::sort(turn_gaps_, std::ranges::greater{}, &TurnGap::bound);
    if (!turn_gaps_.empty() && tie_ == 1) best_ = std::max(best_, turn_gaps_.front().bound);
    if (turn_gaps_.empty() || turn_gaps_.front().bound <= best_) return;
    find_waits(runs_[vl]);
    for (const TurnGap& gap : turn_gaps_) {
      if (gap.bound <= best_) return;
      best_ = std::max(best_, after_turn(gap.from, gap.to));
    }
  }

  /// Upper bound of the distance from a turn of the VL to its next, where the VL's grant comes at most `wait`
  /// grants after the first one in between; reached where places are of one class.
  [[nodiscard]] Count most_after_turn(Count from, Count to, Count wait) const {
    const Count begin = before(from);
    const Count span = before(to) - begin;
    const Count room = span - wait * passes_;  // offsets below it: the VL's grant comes first
    if (room <= 0) return to - from + ceil_div(span, passes_);
    const Count last = std::min(passes_, room) - 1;
    const Count largest = wait + started(begin + last + wait * passes_) - from;
    return room < passes_ ? std::max(largest, to - from + ceil_div(span - room, passes_)) : largest;
  }

  /// The distance itself, for the first grant after `from` at each offset below passes_. Of the offsets,
  /// those below `fewer` leave `most` grants before `to`, the others one less; what comes first, the VL's
  /// grant or `to`, depends on how many grants after the first the VL's comes: its wait.
  [[nodiscard]] Count after_turn(Count from, Count to) const {
    const Count begin = before(from);
    const Count span = before(to) - begin;
    const Count most = ceil_div(span, passes_);
    const Count fewer = span - (most - 1) * passes_;
    if (most == 0 || waits_for(most, begin, std::min(fewer, passes_))) return to - from + most;
    if (fewer < passes_ && waits_for(most - 1, begin + fewer, passes_ - fewer)) return to - from + most - 1;
    // The VL's grant always comes first. A longer wait is a later place, whatever the offset; with the same
    // wait, a later offset is.
    if (const Count offset = fewer - 1 - least_behind(most - 1, begin + fewer - 1); offset >= 0)
      return most - 1 + started(begin + offset + (most - 1) * passes_) - from;
    Count good = 0;
    for (Count bad = most - 1; bad - good > 1;) {
      const Count wait = good + (bad - good) / 2;
      (waits_for(wait, begin, passes_) ? good : bad) = wait;
    }
    const Count offset = passes_ - 1 - least_behind(good, begin + passes_ - 1);
    return good + started(begin + offset + good * passes_) - from;
  }

  /// Whether one of `length` places from `begin` on is that of a grant with at least this wait.
  [[nodiscard]] bool waits_for(Count wait, Count begin, Count length) const {
    if (wait == 0) return length > 0;
    return std::ranges::any_of(waits_, [&](const Progression& each) {
      const auto some = of_wait(each, wait);
      return some.count > 0 && (some.count >= tie_ ? length > 0 : ahead(some, begin, length) < length);
    });
  }

  /// How far before `place` the next grant with at least this wait is.
  [[nodiscard]] Count least_behind(Count wait, Count place) const {
    if (wait == 0) return 0;
    Count least = never;
    for (const Progression& each : waits_) {
      const auto some = of_wait(each, wait);
      if (some.count > 0) least = std::min(least, some.count >= tie_ ? 0 : behind(some, place));
    }
    return least;
  }

  /// The k-th of a gap's grants waits for all that come after it.
  [[nodiscard]] static Progression of_wait(Progression each, Count wait) {
    each.count = each.count - wait + 1;
    return each;
  }

  [[nodiscard]] Count longest_low_wait(const std::vector<Run>& runs) const {
    Count longest = 0;
    for (std::size_t i = 0; i < runs.size(); ++i) {
      longest = std::max(longest, after_run(runs, i) - 1);
    }
    return longest;
  }

  /// The grants between the VL's, gap by gap, in order: the first of n waits for n, the last for one.
  void find_waits(const std::vector<Run>& runs) {
    waits_.clear();
    for (std::size_t i = 0; i < runs.size(); ++i) {
      const Run between{runs[i].first + runs[i].length, after_run(runs, i) - 1};
      if (between.length == 0) continue;
      waits_.push_back({class_of(between.first), passes_ % tie_, between.length, tie_});
    }
    // Long ones answer first.
    std::ranges::sort(waits_, std::ranges::greater{}, &Progression::count);
  }

  Count turns_;
  Count places_;
  Count passes_;
  const GrantPattern& pattern_;
  std::array<std::vector<Count>, max_data_vls> high_turns_;
  std::array<std::vector<Run>, max_data_vls> runs_;
  Count low_grants_ = 0;
  Count tie_ = 1;
  std::vector<std::uint32_t> started_;  ///< by place of a pass; empty if there are many
  std::vector<Next> next_turn_;
  std::vector<Gap> gaps_;
  ResidueSet classes_;
  std::vector<TurnGap> turn_gaps_;
  std::vector<Progression> waits_;
  Count best_ = 0;
};

}  // namespace

std::uint64_t grants_of(const Turns& low, LowGrant grant) {
  return grant == LowGrant::Entry ? low.list.size() : low.packets;
}

LargestDistances largest_distances(const Turns& high, const Turns& low, LowGrant grant,
                                   const GrantPattern& pattern) {
  DistanceFinder finder{high, low, grant, pattern};
  LargestDistances largest{};
  for (unsigned vl = 0; vl < max_data_vls; ++vl) largest[vl] = finder.largest(vl);
  return largest;
}

}  // namespace heddle::qos
