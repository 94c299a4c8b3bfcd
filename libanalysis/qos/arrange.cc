#include "qos/arrange.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>

#include "qos/apportion.h"

namespace heddle::qos {
namespace {

using Sizes = std::vector<std::uint32_t>;

/// An entry before it has a weight.
struct Slot {
  std::size_t vl = 0;
  std::uint32_t packets = 0;
};
using Slots = std::vector<Slot>;

constexpr std::size_t most_orders = 300;
constexpr std::size_t most_steps = 3000;
constexpr int most_repairs = 8;

std::uint64_t ceil_div(std::uint64_t a, std::uint64_t b) { return (a + b - 1) / b; }

/// How the entries of the classes are put among each other.
enum class Weave : std::uint8_t {
  Fractions,  ///< entry j of a class with e entries stands at (j + 1/2) / e of the round
  Entries,    ///< class by class, the rarest first, each spread evenly over the entries that are there
  Packets,    ///< likewise, over the packets that are there: entries are cut where one is put in
};

std::uint32_t part_of(std::uint64_t packets, std::uint64_t entries, std::uint64_t j) {
  return static_cast<std::uint32_t>((j + 1) * packets / entries - j * packets / entries);
}

Slots by_fractions(const Sizes& packets, const Sizes& entries, std::size_t first_vl) {
  struct Placed {
    double at = 0;
    Slot slot;
  };
  std::vector<Placed> placed;
  for (std::size_t i = 0; i < packets.size(); ++i) {
    for (std::uint32_t j = 0; j < entries[i]; ++j) {
      placed.push_back({(j + 0.5) / entries[i], {first_vl + i, part_of(packets[i], entries[i], j)}});
    }
  }
  std::ranges::stable_sort(placed, {}, &Placed::at);
  Slots out;
  for (const auto& each : placed) out.push_back(each.slot);
  return out;
}

/// Puts a class's entries evenly among slots, whole slots apart.
Slots among_entries(const Slots& there, std::uint32_t packets, std::uint32_t entries, std::size_t vl) {
  Slots out;
  std::size_t next = 0;
  for (std::uint64_t j = 0; j < entries; ++j) {
    const auto until = static_cast<std::size_t>((j + 1) * there.size() / entries);
    out.push_back({vl, part_of(packets, entries, j)});
    for (; next < until; ++next) out.push_back(there[next]);
  }
  return out;
}

/// The same with as many packets in each gap.
Slots among_packets(const Slots& there, std::uint32_t packets, std::uint32_t entries, std::size_t vl) {
  const std::uint64_t total = std::accumulate(there.begin(), there.end(), std::uint64_t{0},
                                              [](auto sum, const Slot& slot) { return sum + slot.packets; });
  Slots out;
  std::size_t next = 0;
  std::uint32_t taken = 0;  // of there[next]
  for (std::uint64_t j = 0; j < entries; ++j) {
    out.push_back({vl, part_of(packets, entries, j)});
    for (std::uint64_t room = part_of(total, entries, j); room > 0;) {
      const auto step =
          static_cast<std::uint32_t>(std::min<std::uint64_t>(room, there[next].packets - taken));
      out.push_back({there[next].vl, step});
      room -= step;
      taken += step;
      if (taken == there[next].packets) {
        ++next;
        taken = 0;
      }
    }
  }
  return out;
}

Slots woven(const Sizes& packets, const Sizes& entries, std::size_t first_vl, Weave weave) {
  if (weave == Weave::Fractions) return by_fractions(packets, entries, first_vl);
  std::vector<std::size_t> order(packets.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, {}, [&entries](std::size_t i) { return entries[i]; });
  Slots out;
  for (const std::size_t i : order) {
    out = weave == Weave::Entries ? among_entries(out, packets[i], entries[i], first_vl + i)
                                  : among_packets(out, packets[i], entries[i], first_vl + i);
  }
  return out;
}

/// All orders of entries that hold these packets, up to a count.
class Orders {
 public:
  Orders(const Sizes& packets, std::size_t first_vl, std::uint32_t least, std::uint32_t most,
         std::uint32_t entry_packets)
      : left_{packets}, first_vl_{first_vl}, least_{least}, most_{most}, entry_packets_{entry_packets} {
    descend();
  }
  [[nodiscard]] bool all() const { return orders_.size() <= most_orders && steps_ <= most_steps; }
  [[nodiscard]] const std::vector<Slots>& list() const { return orders_; }

 private:
  void descend() {
    if (!all() || ++steps_ > most_steps) return;
    const bool done = std::ranges::all_of(left_, [](auto packets) { return packets == 0; });
    if (done) {
      if (slots_.size() >= least_) orders_.push_back(slots_);
      return;
    }
    if (slots_.size() + entries_for(left_, entry_packets_) > most_) return;
    if (slots_.size() + std::accumulate(left_.begin(), left_.end(), std::size_t{0}) < least_) return;
    for (std::size_t i = 0; i < left_.size(); ++i) {
      for (std::uint32_t packets = 1; packets <= std::min(left_[i], entry_packets_); ++packets) {
        left_[i] -= packets;
        slots_.push_back({first_vl_ + i, packets});
        descend();
        slots_.pop_back();
        left_[i] += packets;
      }
    }
  }

  Sizes left_;
  std::size_t first_vl_;
  std::uint32_t least_;
  std::uint32_t most_;
  std::uint32_t entry_packets_;
  Slots slots_;
  std::size_t steps_ = 0;
  std::vector<Slots> orders_;
};

class Arranger {
 public:
  Arranger(const ArrangeProblem& problem, const Counts& counts) : problem_{problem}, counts_{counts} {
    options_.grant = problem.shares.grant;
    options_.rounding = problem.rounding;
    options_.packets = AnalyzerOptions::every_vl(problem.packet_bytes);
  }

  Arranged run(Effort effort) {
    for (const auto& low : low_profiles()) {
      for (const Weave weave : {Weave::Fractions, Weave::Entries, Weave::Packets}) {
        for (std::uint32_t k = 1; k <= problem_.shares.high_entries; k += k) {
          if (!try_repeats(k, low, weave)) break;
        }
        if (effort == Effort::Quick && result_.best) return std::move(result_);
      }
    }
    if (effort == Effort::Thorough) result_.exhaustive = try_all_orders();
    return std::move(result_);
  }

 private:
  [[nodiscard]] std::uint32_t least_entries(std::uint32_t packets) const {
    return static_cast<std::uint32_t>(ceil_div(packets, problem_.shares.entry_packets));
  }

  /// Each class k times a round, then more often those that miss their goals. False if k is too often.
  bool try_repeats(std::uint32_t k, const Sizes& low, Weave weave) {
    Sizes entries;
    for (const auto packets : counts_.high) entries.push_back(std::clamp(k, least_entries(packets), packets));
    const auto sum = [&entries] { return std::accumulate(entries.begin(), entries.end(), 0U); };
    if (sum() > problem_.shares.high_entries) return false;
    for (int repair = 0; repair < most_repairs; ++repair) {
      const Slots high = woven(counts_.high, entries, 0, weave);
      if (high.size() > problem_.shares.high_entries) return false;
      const auto missed = evaluate(high, woven(counts_.low, low, counts_.high.size(), low_weave(weave)));
      bool more = false;
      for (const std::size_t i : missed) {
        if (i >= entries.size()) continue;
        const std::uint32_t wanted = std::min(counts_.high[i], entries[i] + 1 + entries[i] / 3);
        if (sum() - entries[i] + wanted > problem_.shares.high_entries) continue;
        more |= wanted > entries[i];
        entries[i] = wanted;
      }
      if (!more) break;
    }
    return sum() < problem_.shares.high_entries || !problem_.goals.empty();
  }

  /// Low entries are counted, so none is cut.
  static Weave low_weave(Weave weave) { return weave == Weave::Packets ? Weave::Entries : weave; }

  /// Entries of the low classes: as equal as can be, and in proportion to their packets.
  [[nodiscard]] std::vector<Sizes> low_profiles() const {
    if (counts_.low_entries == 0) return {{}};
    Sizes least;
    for (const auto packets : counts_.low) least.push_back(least_entries(packets));
    return {filled(least, [](std::uint32_t entries, std::uint32_t) { return static_cast<double>(entries); }),
            filled(least, [](std::uint32_t entries, std::uint32_t packets) {
              return static_cast<double>(entries) / packets;
            })};
  }

  /// Adds entries, each time where `rank` is least, until there are as many as the counts say.
  template <class Rank>
  [[nodiscard]] Sizes filled(Sizes entries, Rank rank) const {
    for (auto sum = std::accumulate(entries.begin(), entries.end(), 0U); sum < counts_.low_entries; ++sum) {
      std::size_t best = entries.size();
      for (std::size_t i = 0; i < entries.size(); ++i) {
        if (entries[i] == counts_.low[i]) continue;
        if (best == entries.size() ||
            rank(entries[i], counts_.low[i]) < rank(entries[best], counts_.low[best]))
          best = i;
      }
      if (best == entries.size()) break;
      ++entries[best];
    }
    return entries;
  }

  bool try_all_orders() {
    const auto& shares = problem_.shares;
    const Orders high{counts_.high, 0, 1, shares.high_entries, shares.entry_packets};
    const bool fixed = shares.grant == LowGrant::Entry;
    const Orders low{counts_.low, counts_.high.size(), fixed ? counts_.low_entries : 0,
                     fixed ? counts_.low_entries : shares.low_entries, shares.entry_packets};
    if (!high.all() || !low.all() || high.list().size() * low.list().size() > most_orders) return false;
    for (const auto& high_slots : high.list()) {
      for (const auto& low_slots : low.list()) (void)evaluate(high_slots, low_slots);
    }
    return true;
  }

  [[nodiscard]] ArbTable table(const Slots& slots) const {
    ArbTable out;
    for (const auto& slot : slots) {
      // Whole packets, where the 8 bits allow: then all ways of rounding agree.
      const auto weight = std::min<std::uint64_t>(
          255, std::uint64_t{slot.packets} * problem_.packet_bytes / weight_unit_bytes);
      out.push_back({Vl{static_cast<std::uint8_t>(slot.vl)}, static_cast<std::uint8_t>(weight)});
    }
    return out;
  }

  /// Keeps the arrangement if it is the best that meets all goals; returns the classes that miss theirs.
  std::vector<std::size_t> evaluate(const Slots& high, const Slots& low) {
    Arrangement candidate;
    candidate.tables = {table(high), table(low), counts_.stride.limit};
    auto analysis = analyze(candidate.tables, options_);
    std::vector<std::size_t> missed;
    if (!analysis) return missed;
    candidate.analysis = std::move(*analysis);
    for (std::size_t i = 0; i < candidate.analysis.vls.size(); ++i) {
      const auto& vl = candidate.analysis.vls[i];
      candidate.distance = std::max(candidate.distance, vl.max_distance);
      candidate.wait_bytes = std::max(candidate.wait_bytes, vl.wait_bytes.value_or(0));
      if (i >= problem_.goals.size()) continue;
      const auto& goal = problem_.goals[i];
      if ((goal.distance && vl.max_distance > *goal.distance) ||
          (goal.wait_bytes && (!vl.wait_bytes || *vl.wait_bytes > *goal.wait_bytes))) {
        missed.push_back(i);
      }
    }
    if (!missed.empty()) return missed;
    const auto rank = [](const Arrangement& each) { return std::pair{each.distance, each.wait_bytes}; };
    if (!result_.best || rank(candidate) < rank(*result_.best)) result_.best = std::move(candidate);
    return missed;
  }

  const ArrangeProblem& problem_;
  const Counts& counts_;
  AnalyzerOptions options_;
  Arranged result_;
};

}  // namespace

Arranged arrange(const ArrangeProblem& problem, const Counts& counts, Effort effort) {
  return Arranger{problem, counts}.run(effort);
}

namespace {

/// With as many entries as there is room for, what the others send in a round is spread over as many gaps.
std::uint64_t least_window(const Sizes& packets, std::size_t own, std::uint32_t room,
                           std::uint32_t entry_packets) {
  const std::uint64_t total = std::accumulate(packets.begin(), packets.end(), std::uint64_t{0});
  const std::uint32_t others =
      entries_for(packets, entry_packets) - (packets[own] + entry_packets - 1) / entry_packets;
  return ceil_div(total - packets[own], std::min(packets[own], room - others));
}

/// Bytes that a high class waits for a window of so many high packets, the low grants at their smallest.
std::uint64_t high_wait(const ArrangeProblem& problem, const Counts& counts, std::uint64_t window) {
  const std::uint64_t size = problem.packet_bytes;
  if (counts.low.empty()) return window * size;
  const std::uint64_t low = std::accumulate(counts.low.begin(), counts.low.end(), std::uint64_t{0});
  const std::uint64_t limit = counts.stride.limit.raw() * std::uint64_t{limit_unit_bytes};
  const std::uint64_t grants = limit == 0 ? 1 + window : 1 + window * size / limit;
  if (problem.shares.grant == LowGrant::Packet) return (window + grants) * size;
  const std::uint64_t grant = ceil_div(low, counts.low_entries);
  // As wait_bound.h: a low packet on its way, and then grants.
  const std::uint64_t after = window == 0 ? 0 : limit == 0 ? window : 1 + (window * size - 1) / limit;
  return (window + std::max(grants * grant, 1 + after * grant)) * size;
}

std::uint64_t low_wait(const ArrangeProblem& problem, const Counts& counts, std::size_t own) {
  const auto& shares = problem.shares;
  const bool whole_entry = shares.grant == LowGrant::Entry;
  const std::uint64_t window = least_window(
      counts.low, own, whole_entry ? counts.low_entries : shares.low_entries, shares.entry_packets);
  const std::uint64_t turns = whole_entry ? ceil_div(window, shares.entry_packets) : window;
  return (window + (turns + 1) * counts.stride.packets) * problem.packet_bytes;
}

}  // namespace

std::uint64_t least_wait(const ArrangeProblem& problem, const Counts& counts, std::size_t class_index) {
  if (class_index >= counts.high.size()) return low_wait(problem, counts, class_index - counts.high.size());
  const auto& shares = problem.shares;
  return high_wait(problem, counts,
                   least_window(counts.high, class_index, shares.high_entries, shares.entry_packets));
}

std::uint64_t least_wait_beside(const ArrangeProblem& problem, const Counts& low_side,
                                std::size_t class_index) {
  const auto& high = problem.shares.high;
  if (class_index >= high.size()) return low_wait(problem, low_side, class_index - high.size());
  const double own = high[class_index] + problem.shares.most_error;
  const double others = std::max(0.0, 1 - low_side.low_part - own);
  return high_wait(problem, low_side, static_cast<std::uint64_t>(std::ceil(others / own - 1e-9)));
}

}  // namespace heddle::qos
