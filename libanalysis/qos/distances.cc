#include "qos/distances.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <vector>

namespace heddle::qos {
namespace {

using Count = std::int64_t;
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
    return turns_ * (place / places_) + started_[static_cast<std::size_t>(place % places_)];
  }

  void fill_started() {
    started_.resize(static_cast<std::size_t>(places_));
    for (Count k = 0; k < turns_; ++k) {
      const auto first = started_.begin() + before(k);
      std::fill(first, started_.begin() + before(k + 1), static_cast<std::uint32_t>(k + 1));
    }
  }

  /// Places modulo `tie_` of the grants that are at position x of the low sequence.
  [[nodiscard]] Count class_of(Count x) const {
    const Count since = modulo(x - static_cast<Count>(pattern_.number % pattern_.grants), tie_);
    return modulo(static_cast<Count>(pattern_.place) + since * (passes_ % tie_), tie_);
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
      const Count bound = after_grant(grants, 1, 0);
      if (bound <= best_) return;
      std::size_t last = first;
      while (last < gaps_.size() && gaps_[last].grants == grants) ++last;
      if (mark_classes(first, last) == tie_) {
        best_ = bound;
        return;
      }
      for (Count each = 0; each < tie_ && best_ < bound; ++each) {
        if (marked_[static_cast<std::size_t>(each)]) best_ = std::max(best_, after_grant(grants, tie_, each));
      }
      first = last;
    }
  }

  /// Marks the classes of places at which these gaps start; returns how many they are.
  Count mark_classes(std::size_t first, std::size_t last) {
    marked_.assign(static_cast<std::size_t>(tie_), false);
    Count marks = 0;
    for (std::size_t i = first; i < last && marks < tie_; ++i) {
      const Run& run = gaps_[i].positions;
      for (Count x = 0; x < std::min(run.length, tie_) && marks < tie_; ++x) {
        auto&& mark = marked_[static_cast<std::size_t>(class_of(run.first + x))];
        if (!mark) ++marks;
        mark = true;
      }
    }
    return marks;
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

  /// Largest distance from a grant, at a place of the class, to the VL's next turn or to its next grant.
  [[nodiscard]] Count after_grant(Count gap, Count modulus, Count residue) const {
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
        if (modulus != 1) place += modulo(residue - place, modulus);
        const Count turns = next.turn - (k + 1);
        if (place < end && next.place - place > (largest - turns) * passes_) {
          largest = std::max(largest, turns + ceil_div(next.place - place, passes_));
        }
      }
      place = std::min(end, next.place - ahead) - 1;
      if (place >= begin) {  // to the next grant: the later, the longer
        if (modulus != 1) place -= modulo(place - residue, modulus);
        if (place >= begin) {
          Count to = place + ahead_places;
          Count turns = ahead_turns - (k + 1);
          if (to >= places_) {
            to -= places_;
            turns += turns_;
          }
          largest = std::max(largest, gap + turns + started_[static_cast<std::size_t>(to)]);
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
        turn_gaps_.push_back({after_turn(from, to, longest_wait, 1, 0), from, to});
      }
    }
    std::ranges::sort(turn_gaps_, std::ranges::greater{}, &TurnGap::bound);
    if (!turn_gaps_.empty() && tie_ == 1) best_ = std::max(best_, turn_gaps_.front().bound);
    if (turn_gaps_.empty() || turn_gaps_.front().bound <= best_) return;
    find_waits(runs_[vl]);
    for (const TurnGap& gap : turn_gaps_) {
      if (gap.bound <= best_) return;
      Count residue = before(gap.from) % tie_;
      for (Count offset = 0; offset < std::min(passes_, tie_); ++offset) {
        const Count wait = waits_[static_cast<std::size_t>(residue)];
        best_ = std::max(best_, after_turn(gap.from, gap.to, wait, tie_, offset));
        if (++residue == tie_) residue = 0;
      }
    }
  }

  /// Largest distance between two turns of the VL, or from the first of them to a grant of the VL, which
  /// comes `wait` grants after the first grant in between. That grant is `offset` places after the turn;
  /// offsets are first, first + step, ... below passes_.
  [[nodiscard]] Count after_turn(Count from, Count to, Count wait, Count step, Count first) const {
    const Count begin = before(from);
    const Count span = before(to) - begin;
    const Count room = span - wait * passes_;  // offsets below it: the grant comes first
    if (first >= room) return to - from + ceil_div(span - first, passes_);
    const Count last = std::min(passes_, room) - 1;
    const Count offset = last - modulo(last - first, step);
    Count largest = wait + started(begin + offset + wait * passes_) - from;
    if (offset + step < passes_) {
      largest = std::max(largest, to - from + ceil_div(span - offset - step, passes_));
    }
    return largest;
  }

  [[nodiscard]] Count longest_low_wait(const std::vector<Run>& runs) const {
    Count longest = 0;
    for (std::size_t i = 0; i < runs.size(); ++i) {
      longest = std::max(longest, after_run(runs, i) - 1);
    }
    return longest;
  }

  /// waits_[r]: most grants from one whose place is r modulo tie_ to the VL's next.
  void find_waits(const std::vector<Run>& runs) {
    waits_.assign(static_cast<std::size_t>(tie_), 0);
    for (std::size_t i = 0; i < runs.size(); ++i) {
      const Count first = runs[i].first + runs[i].length;
      const Count longest = after_run(runs, i) - 1;
      Count place = class_of(first);
      for (Count x = 0; x < std::min(longest, tie_); ++x) {
        auto& wait = waits_[static_cast<std::size_t>(place)];
        wait = std::max(wait, longest - x);
        place = (place + passes_ % tie_) % tie_;
      }
    }
  }

  Count turns_;
  Count places_;
  Count passes_;
  const GrantPattern& pattern_;
  std::array<std::vector<Count>, max_data_vls> high_turns_;
  std::array<std::vector<Run>, max_data_vls> runs_;
  Count low_grants_ = 0;
  Count tie_ = 1;
  std::vector<std::uint32_t> started_;
  std::vector<Next> next_turn_;
  std::vector<Gap> gaps_;
  std::vector<bool> marked_;
  std::vector<TurnGap> turn_gaps_;
  std::vector<Count> waits_;
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
