#include "qos/simple_arbiters.h"

#include <algorithm>
#include <utility>

namespace heddle::qos {

SbtArbiter::SbtArbiter(std::vector<std::uint32_t> weights, std::vector<std::uint8_t> sl_of_lane,
                       SbtRestore restore)
    : weights_{std::move(weights)}, left_{weights_}, sl_of_lane_{std::move(sl_of_lane)}, restore_{restore} {
  if (sl_of_lane_.size() > max_lanes) sl_of_lane_.resize(max_lanes);
}

std::optional<Pick> SbtArbiter::select(Heads heads) {
  Scan found = scan(heads);
  if (!found.last_waiting) return std::nullopt;
  if (!found.with_weight && found.all_waiting && restore_ == SbtRestore::AllWaitingDry) {
    left_ = weights_;
    found = scan(heads);
  }
  const std::size_t lane = found.with_weight.value_or(*found.last_waiting);
  const auto selection = lane == last_ ? Selection::Continued : Selection::New;
  last_ = lane;
  auto& left = left_[sl_of_lane_[lane]];
  if (left > 0) --left;
  if (restore_ == SbtRestore::AllUsedUp &&
      std::ranges::all_of(left_, [](auto weight) { return weight == 0; })) {
    left_ = weights_;
  }
  return Pick{Lane{static_cast<std::uint8_t>(lane)}, Source::Only, sl_of_lane_[lane], selection};
}

SbtArbiter::Scan SbtArbiter::scan(Heads heads) const {
  Scan found;
  for (std::size_t i = 0; i < sl_of_lane_.size(); ++i) {
    const std::size_t lane = (last_ + i) % sl_of_lane_.size();
    if (sl_of_lane_[lane] >= weights_.size()) continue;
    if (head(heads, Lane{static_cast<std::uint8_t>(lane)}) == 0) {
      found.all_waiting = false;
      continue;
    }
    found.last_waiting = lane;
    if (left_[sl_of_lane_[lane]] > 0) {
      found.with_weight = lane;
      return found;
    }
  }
  return found;
}

std::optional<Pick> RoundRobinArbiter::select(Heads heads) {
  const std::size_t lanes = std::min(heads.size(), max_lanes);
  for (std::size_t i = 0; i < lanes; ++i) {
    const std::size_t lane = (next_ + i) % lanes;
    if (heads[lane] == 0) continue;
    next_ = (lane + 1) % lanes;
    return Pick{Lane{static_cast<std::uint8_t>(lane)}, Source::Only, static_cast<std::uint8_t>(lane),
                Selection::New};
  }
  return std::nullopt;
}

}  // namespace heddle::qos
