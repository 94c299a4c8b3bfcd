#include "qos/share_search.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <optional>

#include "qos/apportion.h"

namespace heddle::qos {
namespace {

/// Errors closer than this are equal.
constexpr double same = 1e-12;
constexpr std::size_t most_candidates = 32;
constexpr std::size_t most_splits = 32;
constexpr std::size_t most_shortest = 16;

struct HighTotal {
  std::uint32_t packets = 0;
  double error = 0;  ///< least, when the low part is the wanted one
};

struct LowSide {
  std::uint32_t stride = 0;  ///< index
  std::uint32_t entries = 0;
  std::uint32_t packets = 0;
  double part = 0;  ///< of the link
  double error = 0;
};

class Search {
 public:
  Search(const ShareProblem& problem, const Acceptance& accept)
      : problem_{problem},
        accept_{accept},
        wanted_low_{std::accumulate(problem.low.begin(), problem.low.end(), 0.0)} {}

  ShareSearch run() {
    list_high_totals();
    if (problem_.low.empty()) {
      lows_.push_back({});
      error_ = problem_.most_error + same;
      improve();
    } else {
      // Low sides are many: look at those of small error first, and at more only if nothing was found. What
      // ran out of budget without finding anything still finds something where the error may be larger.
      for (double reach = std::max(1e-5, least_error()); !found_; reach *= 8) {
        const double bounded = std::min(reach, problem_.most_error);
        list_low_sides(bounded);
        error_ = bounded + same;
        improve();
        if (bounded == problem_.most_error) break;
      }
    }
    if (found_) collect();
    return std::move(result_);
  }

 private:
  void list_high_totals() {
    const auto least = static_cast<std::uint32_t>(problem_.high.size());
    const std::uint32_t most = problem_.high_entries * problem_.entry_packets;
    Apportionment split;
    for (std::uint32_t total = least; total <= most; ++total) {
      // Entries that are too few count here too, or all these totals would be tried in vain.
      if (split_high(total, wanted_low_, 1, split)) highs_.push_back({total, split.error});
    }
    std::ranges::stable_sort(highs_, {}, &HighTotal::error);
  }

  /// No pair has a smaller one: a low part that is off by x moves no high class by more than x, and some low
  /// class by as much as x / low classes.
  [[nodiscard]] double least_error() const {
    return highs_.empty() ? 0 : highs_.front().error / static_cast<double>(1 + problem_.low.size());
  }

  [[nodiscard]] double low_part(const Stride& stride, std::uint32_t entries, std::uint32_t packets) const {
    if (problem_.grant == LowGrant::Packet) return 1.0 / (1 + stride.packets);
    return packets / (packets + static_cast<double>(stride.packets) * entries);
  }

  /// All low sides whose own error is at most `error`.
  void list_low_sides(double error) {
    lows_.clear();
    const auto classes = static_cast<std::uint32_t>(problem_.low.size());
    // Errors of the classes of one side add up to that of the side's part.
    const double slack =
        error * static_cast<double>(std::min(problem_.low.size(), problem_.high.size())) + same;
    for (std::uint32_t at = 0; at < problem_.strides.size(); ++at) {
      for (std::uint32_t entries = classes; entries <= problem_.low_entries; ++entries) {
        const double others = static_cast<double>(problem_.strides[at].packets) * entries;
        const double most = static_cast<double>(entries) * problem_.entry_packets;
        double from = 1;
        double to = most;
        if (problem_.grant == LowGrant::Entry) {
          const auto packets_of = [others](double part) { return others * part / (1 - part); };
          from = std::ceil(packets_of(std::max(0.0, wanted_low_ - slack)) - 1e-6);
          if (wanted_low_ + slack < 1) to = std::floor(packets_of(wanted_low_ + slack) + 1e-6);
        } else if (std::abs(low_part(problem_.strides[at], 1, 1) - wanted_low_) > slack) {
          continue;
        }
        from = std::max(from, static_cast<double>(entries));
        to = std::min(to, most);
        if (from > to) continue;
        for (auto packets = static_cast<std::uint32_t>(from); packets <= to; ++packets) {
          add_low_side(at, entries, packets, error);
          if (lows_.size() > problem_.effort.lows) {
            result_.complete = false;
            return;
          }
        }
      }
    }
  }

  void add_low_side(std::uint32_t stride, std::uint32_t entries, std::uint32_t packets, double error) {
    LowSide low{stride, entries, packets, low_part(problem_.strides[stride], entries, packets), 0};
    if (!split_low(low, error + same, scratch_)) return;
    low.error = scratch_.error;
    low_side_.low = scratch_.parts;
    low_side_.low_entries = entries;
    low_side_.stride = problem_.strides[stride];
    low_side_.low_part = low.part;
    if (accept_.low_side(low_side_)) lows_.push_back(low);
  }

  [[nodiscard]] bool split_low(const LowSide& low, double most, Apportionment& split) {
    const double scale = low.part / low.packets;
    apportion(problem_.low, low.packets, scale, split);
    if (split.error > most) return false;
    if (entries_for(split.parts, problem_.entry_packets) <= low.entries) return true;
    auto within =
        apportion_within(problem_.low, low.packets, scale, low.entries, problem_.entry_packets, most);
    if (within) split = std::move(*within);
    return within.has_value();
  }

  [[nodiscard]] bool split_high(std::uint32_t total, double low_part, double most, Apportionment& split) {
    const double scale = (1 - low_part) / total;
    apportion(problem_.high, total, scale, split);
    if (split.error > most) return false;
    if (entries_for(split.parts, problem_.entry_packets) <= problem_.high_entries) return true;
    auto within =
        apportion_within(problem_.high, total, scale, problem_.high_entries, problem_.entry_packets, most);
    if (within) split = std::move(*within);
    return within.has_value();
  }

  /// False if the error would exceed `most`.
  bool combine(const LowSide& low, std::uint32_t high_total, double most, Counts& counts) {
    if (low.error > most || !split_high(high_total, low.part, most, scratch_)) return false;
    counts.high = scratch_.parts;
    counts.error = std::max(low.error, scratch_.error);
    counts.low.clear();
    counts.low_entries = low.entries;
    counts.low_part = low.part;
    if (low.entries == 0) {
      counts.stride = {no_limit, 0};
      return true;
    }
    counts.stride = problem_.strides[low.stride];
    (void)split_low(low, most, scratch_);
    counts.low = scratch_.parts;
    return true;
  }

  /// Until no pair that is left can be better.
  void improve() {
    std::ranges::sort(lows_, {}, &LowSide::error);
    std::uint64_t pairs = 0;
    Counts counts;
    for (const auto& low : lows_) {
      if (low.error > error_ - same) break;
      const double shift = std::abs(low.part - wanted_low_);
      for (const auto& high : highs_) {
        // A shift of the low part moves no class by more than itself.
        if (high.error - shift > error_ - same) break;
        if (++pairs > problem_.effort.pairs) {
          result_.complete = false;
          return;
        }
        if (!combine(low, high.packets, error_ - same, counts) || !accept_.counts(counts)) continue;
        error_ = counts.error;
        found_ = true;
        first_ = counts;
      }
    }
  }

  /// Counts with the least error, small ones first: those come round soonest.
  void collect() {
    std::erase_if(lows_, [this](const LowSide& low) { return low.error > error_ + same; });
    std::erase_if(highs_, [this](const HighTotal& high) {
      return high.error > 2 * problem_.high.size() * error_ + same;
    });
    std::ranges::sort(lows_, {}, [](const LowSide& low) { return std::pair{low.packets, low.stride}; });
    std::ranges::sort(highs_, {}, &HighTotal::packets);
    const std::uint64_t classes = problem_.high.size() + problem_.low.size();
    std::uint64_t pairs = 0;
    std::size_t shortest = 0;  // listed, and as short as can be
    std::vector<std::pair<std::uint64_t, Counts>> listed;
    const auto trim = [&] {
      std::ranges::stable_sort(listed, {}, [](const auto& each) { return each.first; });
      if (listed.size() <= most_candidates) return;
      result_.all_listed = false;
      listed.resize(most_candidates);
    };
    Counts counts;
    for (const auto& low : lows_) {
      const double shift = std::abs(low.part - wanted_low_);
      for (const auto& high : highs_) {
        if (high.error - shift > error_ + same) continue;
        if (++pairs > problem_.effort.ties || shortest > most_shortest) {
          result_.all_listed = false;
          break;
        }
        if (!combine(low, high.packets, error_ + same, counts)) continue;
        if (least_distance(problem_, counts) == classes) ++shortest;
        auto alike = splits(low, high.packets, counts.stride);
        if (alike.empty()) {  // too many to be searched through
          alike.push_back(counts);
          result_.all_listed = false;
        }
        for (auto& each : alike) {
          const auto distance = least_distance(problem_, each);
          listed.emplace_back(distance, std::move(each));
        }
        if (listed.size() > 8 * most_candidates) trim();
      }
    }
    if (listed.empty()) listed.emplace_back(0, first_);
    trim();
    for (auto& [distance, each] : listed) {
      if (accept_.counts(each)) result_.best.push_back(std::move(each));
    }
  }

  /// All counts of these totals that have the least error.
  [[nodiscard]] std::vector<Counts> splits(const LowSide& low, std::uint32_t high_total,
                                           const Stride& stride) const {
    const double most = error_ + same;
    const auto highs = all_apportionments(problem_.high, high_total, (1 - low.part) / high_total,
                                          problem_.high_entries, problem_.entry_packets, most, most_splits);
    std::vector<Apportionment> lows{{}};
    if (low.entries != 0) {
      lows = all_apportionments(problem_.low, low.packets, low.part / low.packets, low.entries,
                                problem_.entry_packets, most, most_splits);
    }
    std::vector<Counts> out;
    for (const auto& high : highs) {
      for (const auto& each : lows) {
        out.push_back(
            {high.parts, each.parts, low.entries, stride, low.part, std::max(high.error, each.error)});
      }
    }
    return out;
  }

  const ShareProblem& problem_;
  const Acceptance& accept_;
  double wanted_low_;
  std::vector<HighTotal> highs_;
  std::vector<LowSide> lows_;
  Apportionment scratch_;
  Counts low_side_;
  double error_ = 2;
  bool found_ = false;
  Counts first_;  ///< the first that were found with error_
  ShareSearch result_;
};

}  // namespace

ShareSearch search_shares(const ShareProblem& problem, const Acceptance& accept) {
  return Search{problem, accept}.run();
}

std::uint64_t least_distance(const ShareProblem& problem, const Counts& counts) {
  const auto classes = static_cast<std::uint32_t>(counts.high.size());
  const double total = std::accumulate(counts.high.begin(), counts.high.end(), 0.0);
  const double low_classes = static_cast<double>(counts.low.size());
  const double grants = counts.low_entries == 0 ? 0 : total / counts.stride.packets;  // a round
  const std::uint32_t most = std::min(*std::ranges::min_element(counts.high), problem.high_entries / classes);
  double least = std::numeric_limits<double>::max();
  // The high class with the fewest entries has `rarest`: its mean distance, and that of the rarest low class.
  for (std::uint32_t rarest = 1; rarest <= most; ++rarest) {
    double entries = 0;
    for (const auto packets : counts.high) {
      entries += std::max(rarest, (packets + problem.entry_packets - 1) / problem.entry_packets);
    }
    if (entries > problem.high_entries) break;
    double longest = (entries + grants) / rarest;
    if (grants > 0) longest = std::max(longest, low_classes * (1 + entries / grants));
    least = std::min(least, std::ceil(longest - 1e-9));
  }
  // Of so many classes that take turns, one comes no more often than that.
  return static_cast<std::uint64_t>(std::max(least, classes + low_classes));
}

}  // namespace heddle::qos
