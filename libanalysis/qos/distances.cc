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
    std::vector<Count> done;
    for (std::size_t i = 0; i < runs.size(); ++i) {
      const Run& run = runs[i];
      const Count next = i + 1 < runs.size() ? runs[i + 1].first : runs[0].first + low_grants_;
      low_gap({run.first + run.length - 1, 1}, next - run.first - run.length + 1, done);
    }
    for (const Run& run : runs) {
      if (run.length > 1) low_gap({run.first, run.length - 1}, 1, done);
    }
  }

  /// The next grant of the VL comes `gap` grants after one at any of the positions.
  void low_gap(Run positions, Count gap, std::vector<Count>& done) {
    // Without regard to the class this is an upper bound, and exact if there is one class only.
    if (std::find(done.begin(), done.end(), gap) == done.end()) {
      const Count bound = after_grant(gap, 1, 0);
      if (tie_ == 1 || bound <= best_) {
        best_ = std::max(best_, bound);
        done.push_back(gap);
        return;
      }
    } else {
      return;
    }
    for (Count i = 0; i < std::min(positions.length, tie_); ++i) {
      best_ = std::max(best_, after_grant(gap, tie_, class_of(positions.first + i)));
    }
  }

  /// Per turn of the sequence, the lifted turn at or after it that serves the VL.
  void find_next_turns(unsigned vl) {
    next_turn_.assign(static_cast<std::size_t>(turns_) + 1, never);
    const auto& mine = high_turns_[vl];
    if (mine.empty()) return;
    Count next = mine.front() + turns_;
    auto at = mine.rbegin();
    for (Count k = turns_; k >= 0; --k) {
      if (at != mine.rend() && *at == k) next = *at++;
      next_turn_[static_cast<std::size_t>(k)] = next;
    }
  }

  /// Largest distance from a grant, at a place of the class, to the VL's next turn or to its next grant.
  [[nodiscard]] Count after_grant(Count gap, Count modulus, Count residue) const {
    const Count ahead = gap * passes_;
    Count largest = 0;
    for (Count k = 0; k < turns_; ++k) {
      const Count begin = pattern_.before[static_cast<std::size_t>(k)];
      const Count end = pattern_.before[static_cast<std::size_t>(k) + 1];
      if (begin == end) continue;
      const Count next = next_turn_[static_cast<std::size_t>(k) + 1];
      const Count next_place = next == never ? never : before(next);
      Count place = std::max(begin, next_place - ahead);
      if (place < end) {  // to the next turn: the earlier, the longer
        place += modulus == 1 ? 0 : modulo(residue - place, modulus);
        if (place < end) largest = std::max(largest, next - (k + 1) + ceil_div(next_place - place, passes_));
      }
      place = std::min(end, next_place - ahead) - 1;
      if (place >= begin) {  // to the next grant: the later, the longer
        place -= modulus == 1 ? 0 : modulo(place - residue, modulus);
        if (place >= begin) largest = std::max(largest, gap + started(place + ahead) - (k + 1));
      }
    }
    return largest;
  }

  // Gaps that start with a high turn of the VL.

  void high_gaps(unsigned vl) {
    const auto& mine = high_turns_[vl];
    const bool in_low = !runs_[vl].empty();
    const Count longest_wait = in_low ? longest_low_wait(runs_[vl]) : never;
    waits_.clear();
    for (std::size_t i = 0; i < mine.size(); ++i) {
      const Count from = mine[i];
      const Count to = i + 1 < mine.size() ? mine[i + 1] : mine.front() + turns_;
      if (places_ == 0) {
        best_ = std::max(best_, to - from);
      } else if (!in_low) {
        best_ = std::max(best_, to - from + ceil_div(before(to) - before(from), passes_));
      } else {
        const Count bound = after_turn(from, to, longest_wait, 1, 0);
        if (tie_ == 1) best_ = std::max(best_, bound);
        if (bound <= best_) continue;
        if (waits_.empty()) find_waits(runs_[vl]);
        for (Count y = 0; y < tie_; ++y) {
          const Count first = modulo(class_of(y) - before(from), tie_);
          if (first >= passes_) continue;
          best_ = std::max(best_, after_turn(from, to, waits_[static_cast<std::size_t>(y)], tie_, first));
        }
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
      const Count next = i + 1 < runs.size() ? runs[i + 1].first : runs[0].first + low_grants_;
      longest = std::max(longest, next - runs[i].first - runs[i].length);
    }
    return longest;
  }

  /// waits_[y]: most grants from a position x = y modulo tie_ of the low sequence to the VL's next.
  void find_waits(const std::vector<Run>& runs) {
    waits_.assign(static_cast<std::size_t>(tie_), 0);
    for (std::size_t i = 0; i < runs.size(); ++i) {
      const Count next = i + 1 < runs.size() ? runs[i + 1].first : runs[0].first + low_grants_;
      for (Count x = runs[i].first + runs[i].length; x < next; ++x) {
        auto& wait = waits_[static_cast<std::size_t>(x % tie_)];
        wait = std::max(wait, next - x);
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
  std::vector<Count> next_turn_;
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
