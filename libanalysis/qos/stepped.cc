#include "qos/stepped.h"

#include <algorithm>
#include <utility>

#include "qos/checked_options.h"

namespace heddle::qos {
namespace {

/// An arbiter with a source for every VL that never runs dry.
class Saturated {
 public:
  struct Sent {
    Pick pick;
    std::uint32_t bytes = 0;
  };

  Saturated(const VlArbitration& tables, const AnalyzerOptions& options)
      : options_{&options}, arbiter_{tables, options.grant, options.rounding} {
    for (unsigned vl = 0; vl < max_data_vls; ++vl) heads_[vl] = size(vl);
  }

  Sent step() {
    const Pick pick = *arbiter_.select(heads_);
    const unsigned vl = pick.lane.raw();
    const Sent sent{pick, heads_[vl]};
    next_[vl] = next_[vl] + 1U == options_->packets[vl].size() ? 0 : next_[vl] + 1;
    heads_[vl] = size(vl);
    return sent;
  }

  [[nodiscard]] bool same_state(const Saturated& other) const {
    return next_ == other.next_ && arbiter_.same_state(other.arbiter_);
  }

 private:
  [[nodiscard]] std::uint32_t size(unsigned vl) const {
    return options_->rounding == Rounding::Units ? weight_unit_bytes : options_->packets[vl][next_[vl]];
  }

  const AnalyzerOptions* options_;
  IbaArbiter arbiter_;
  std::array<std::uint32_t, max_data_vls> next_{};
  std::array<std::uint32_t, max_data_vls> heads_{};
};

class Counter {
 public:
  void add(const Saturated::Sent& sent) {
    auto& vl = count_.vls[sent.pick.lane.raw()];
    ++vl.packets;
    vl.bytes += sent.bytes;
    ++count_.packets;
    count_.bytes += sent.bytes;
    if (sent.pick.selection == Selection::New) select(sent.pick.lane.raw());
  }

  /// The stretch repeats: the last selections are followed by the first.
  void close() {
    for (unsigned vl = 0; vl < max_data_vls; ++vl) {
      auto& count = count_.vls[vl];
      if (count.selections != 0) add_distance(count, count_.selections + first_[vl] - last_[vl]);
    }
  }

  [[nodiscard]] const ScheduleCount& count() const { return count_; }

 private:
  void select(unsigned vl) {
    auto& count = count_.vls[vl];
    if (count.selections == 0) {
      first_[vl] = count_.selections;
    } else {
      add_distance(count, count_.selections - last_[vl]);
    }
    last_[vl] = count_.selections;
    ++count.selections;
    ++count_.selections;
  }

  static void add_distance(VlCount& count, std::uint64_t distance) {
    count.distance_sum += distance;
    count.max_distance = std::max(count.max_distance, distance);
  }

  ScheduleCount count_;
  std::array<std::uint64_t, max_data_vls> first_{};
  std::array<std::uint64_t, max_data_vls> last_{};
};

}  // namespace

std::optional<ScheduleCount> count_period(const VlArbitration& tables, const AnalyzerOptions& options,
                                          std::uint64_t most_packets) {
  // Brent, 1980: the tortoise jumps to the hare at every power of two.
  Saturated tortoise{tables, options};
  Saturated hare = tortoise;
  std::uint64_t period = 0;
  std::uint64_t power = 1;
  std::uint64_t steps = 0;
  do {
    if (period == power) {
      tortoise = hare;
      power *= 2;
      period = 0;
    }
    if (++steps > most_packets) return std::nullopt;
    (void)hare.step();
    ++period;
  } while (!hare.same_state(tortoise));

  Counter counter;
  for (std::uint64_t i = 0; i < period; ++i) counter.add(hare.step());
  counter.close();
  return counter.count();
}

Result<ScheduleCount> count_runs(const VlArbitration& tables, const AnalyzerOptions& options,
                                 std::uint64_t cycles) {
  if (auto good = check_options(tables, options); !good) return fail(good.error());
  // The arbiter passes the end of the high table when it selects an entry that is not behind the one before.
  Saturated schedule{tables, options};
  Counter counter;
  std::uint64_t passed = 0;
  std::optional<std::uint8_t> entry;
  std::vector<Saturated::Sent> low;
  while (true) {
    const auto sent = schedule.step();
    if (sent.pick.table == Source::Low) {
      low.push_back(sent);
      continue;
    }
    if (sent.pick.selection == Selection::New) {
      if (entry && sent.pick.entry <= *entry && ++passed == cycles) return counter.count();
      entry = sent.pick.entry;
    }
    for (const auto& before : std::exchange(low, {})) counter.add(before);
    counter.add(sent);
  }
}

}  // namespace heddle::qos
