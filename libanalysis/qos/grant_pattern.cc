#include "qos/grant_pattern.h"

#include <algorithm>
#include <numeric>

namespace heddle::qos {
namespace {

/// A grant after every `stride` packets, whatever their sizes.
GrantPattern even_pattern(const Turns& high, std::uint64_t stride) {
  const std::uint64_t spacing = std::gcd(high.packets, stride);
  GrantPattern pattern;
  pattern.grants = high.packets / spacing;
  pattern.passes = stride / spacing;
  pattern.place = (pattern.passes - 1) % pattern.grants;
  pattern.before.reserve(high.list.size() + 1);
  pattern.before.push_back(0);
  std::uint64_t packets = 0;
  for (const auto& turn : high.list) {
    packets += turn.packets;
    pattern.before.push_back(static_cast<std::uint32_t>(packets / spacing));
  }
  return pattern;
}

/// Walks from grant to grant until one comes at a place where one came before.
class GrantWalk {
 public:
  GrantWalk(const Turns& high, std::uint64_t limit_bytes)
      : turns_{high.list}, bytes_{static_cast<std::uint32_t>(high.bytes)} {
    whole_passes_ = limit_bytes / bytes_;
    stride_ = static_cast<std::uint32_t>(limit_bytes % bytes_);
    prepare(high);
  }

  GrantPattern run() {
    if (stride_ == 0) return at_the_end_of_every_pass();
    counts_.assign(turns_.size(), 0);
    while (true) {
      step();
      ++counts_[turn_];
      if (whole_passes_ == 0 && !wrapped_) continue;
      auto& mark = seen_[packets_before_[turn_] + done_];
      if (mark != 0) return pattern(firsts_[mark - 1]);
      firsts_.push_back({packets_before_[turn_] + done_, grants_, passes_});
      mark = static_cast<std::uint32_t>(firsts_.size());
    }
  }

 private:
  /// The first grant of a pass.
  struct First {
    std::uint32_t position = 0;
    std::uint64_t grants = 0;
    std::uint64_t passes = 0;
  };

  void prepare(const Turns& high) {
    const std::size_t count = turns_.size();
    end_.resize(2 * count);
    packets_before_.resize(count);
    per_grant_.resize(count);
    reach_.resize(count);
    seen_.assign(high.packets + 1, 0);
    std::uint32_t end = 0;
    std::uint32_t packets = 0;
    for (std::size_t k = 0; k < count; ++k) {
      packets_before_[k] = packets;
      packets += turns_[k].packets;
      end += turns_[k].packets * turns_[k].bytes;
      end_[k] = end;
      end_[k + count] = end + bytes_;
      per_grant_[k] = stride_ / turns_[k].bytes + (stride_ % turns_[k].bytes != 0 ? 1 : 0);
    }
    std::uint32_t reach = 0;
    for (std::size_t k = 0; k < count; ++k) {
      const std::uint32_t begin = k == 0 ? 0 : end_[k - 1];
      while (end_[reach] < begin + stride_) ++reach;
      reach_[k] = reach;
    }
    restart();
  }

  /// To the end of the sequence, which is its start.
  void restart() {
    turn_ = static_cast<std::uint32_t>(turns_.size() - 1);
    done_ = turns_.back().packets;
    grants_ = 0;
    passes_ = 0;
  }

  /// To the next grant: after `done_` packets of `turn_`, 1 <= done_ <= packets of the turn.
  void step() {
    ++grants_;
    passes_ += whole_passes_;
    const Turn& from = turns_[turn_];
    const std::uint32_t left = (from.packets - done_) * from.bytes;
    wrapped_ = false;
    if (stride_ <= left) {
      done_ += per_grant_[turn_];
      return;
    }
    std::uint32_t target = end_[turn_] - left + stride_;
    std::uint32_t to = reach_[turn_];
    while (end_[to] < target) ++to;
    if (to >= turns_.size()) {
      to -= static_cast<std::uint32_t>(turns_.size());
      target -= bytes_;
      wrapped_ = true;
      ++passes_;
    }
    const std::uint32_t begin = to == 0 ? 0 : end_[to - 1];
    turn_ = to;
    done_ = (target - begin + turns_[to].bytes - 1) / turns_[to].bytes;
  }

  /// The walk has come back to `again`.
  GrantPattern pattern(First again) {
    GrantPattern result;
    result.grants = grants_ - again.grants;
    result.passes = passes_ - again.passes;
    result.number = again.grants - 1;
    const auto orbit = std::find_if(firsts_.begin(), firsts_.end(),
                                    [&](const First& first) { return first.grants == again.grants; });
    // A place of the orbit before `again` is the first of its pass as well: the map is monotone.
    result.place = static_cast<std::uint64_t>(std::count_if(
        orbit, firsts_.end(), [&](const First& first) { return first.position < again.position; }));
    restart();
    while (grants_ < again.grants) {
      step();
      --counts_[turn_];
    }
    result.before.reserve(counts_.size() + 1);
    result.before.push_back(0);
    for (const auto count : counts_) result.before.push_back(result.before.back() + count);
    return result;
  }

  GrantPattern at_the_end_of_every_pass() {
    GrantPattern result;
    result.grants = 1;
    result.passes = whole_passes_;
    result.before.assign(turns_.size() + 1, 0);
    result.before.back() = 1;
    return result;
  }

  const std::vector<Turn>& turns_;
  std::uint32_t bytes_;
  std::uint64_t whole_passes_ = 0;
  std::uint32_t stride_ = 0;
  std::vector<std::uint32_t> end_;             ///< of each turn, two passes long
  std::vector<std::uint32_t> packets_before_;  ///< each turn
  std::vector<std::uint32_t> per_grant_;       ///< packets of each turn's size that reach the stride
  std::vector<std::uint32_t> reach_;  ///< the turn that a grant before the turn's first packet leads to
  std::vector<std::uint32_t> seen_;   ///< by packet boundary: 1 + position in firsts_
  std::vector<First> firsts_;
  std::vector<std::uint32_t> counts_;  ///< grants by turn
  std::uint32_t turn_ = 0;
  std::uint32_t done_ = 0;
  bool wrapped_ = false;
  std::uint64_t grants_ = 0;
  std::uint64_t passes_ = 0;
};

}  // namespace

GrantPattern grant_pattern(const Turns& high, HighLimit limit) {
  if (limit == no_limit) return {0, 1, std::vector<std::uint32_t>(high.list.size() + 1, 0), 0, 0};
  if (limit == one_packet) return even_pattern(high, 1);
  const std::uint32_t bytes = limit.raw() * limit_unit_bytes;
  const std::uint32_t size = high.list.front().bytes;
  const bool one_size = std::all_of(high.list.begin(), high.list.end(),
                                    [size](const Turn& turn) { return turn.bytes == size; });
  if (one_size) return even_pattern(high, (bytes + size - 1) / size);
  return GrantWalk{high, bytes}.run();
}

}  // namespace heddle::qos
