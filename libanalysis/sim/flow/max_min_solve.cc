// Water filling: the level of all flows rises together; a flow stops at its demand, or with the first channel
// on its path that is full. What stops next comes from one queue of channels (at the level where they will be
// full) and flows (at their demands).

#include <algorithm>

#include "sim/flow/max_min.h"

namespace heddle::sim {
namespace {

/// A sum of rates may exceed a capacity by so much through rounding.
constexpr double rounding = 1e-12;
constexpr double open = -1;
constexpr double gone = -1;

}  // namespace

/// Leaves the sum of the demands on each channel in filling_.capacity.
void MaxMin::sum_demands() {
  filling_.assign(capacity_.size(), Filling{0, 0});
  previous_.resize(flows_.size());
  for (std::size_t id = 0; id < flows_.size(); ++id) {
    Flow& flow = flows_[id];
    previous_[id] = flow.level;
    if (flow.weight == 0) continue;
    flow.level = open;
    const double demand = flow.ceiling * flow.weight;
    for (const std::uint32_t channel : path(flow)) {
      filling_[channel].capacity += demand;
      filling_[channel].weight += flow.weight;
    }
  }
}

/// A channel with room for everything that is wanted of it holds back nobody, and is left out.
void MaxMin::queue_channels() {
  const double highest = capacity_.empty() ? 0 : *std::max_element(capacity_.begin(), capacity_.end());
  queue_.reset(capacity_.size() + flows_.size(), highest);
  for (std::uint32_t channel = 0; channel < capacity_.size(); ++channel) {
    Filling& filling = filling_[channel];
    fill_[channel] = none;
    const double wanted = filling.capacity;
    const double capacity = capacity_[channel];
    filling.capacity = capacity;
    if (filling.weight == 0) continue;
    if (wanted <= capacity * (1 + rounding)) {
      filling.weight = 0;
    } else {
      queue_.push(capacity / static_cast<double>(filling.weight), channel);
    }
  }
}

/// A flow that crosses no queued channel gets its demand; a flow without a limit waits for a channel.
void MaxMin::queue_flows() {
  for (std::uint32_t id = 0; id < flows_.size(); ++id) {
    Flow& flow = flows_[id];
    if (flow.weight == 0 || flow.ceiling == none) continue;
    const auto hops = path(flow);
    const bool can_be_held =
        std::any_of(hops.begin(), hops.end(), [this](std::uint32_t c) { return filling_[c].weight != 0; });
    if (can_be_held) {
      queue_.push(flow.ceiling, static_cast<std::uint32_t>(capacity_.size()) + id);
    } else {
      flow.level = flow.ceiling;
    }
  }
}

void MaxMin::freeze(Flow& flow, double level) {
  flow.level = level;
  const double rate = level * flow.weight;
  for (const std::uint32_t channel : path(flow)) {
    Filling& filling = filling_[channel];
    filling.capacity -= rate;
    filling.weight -= flow.weight;
  }
}

void MaxMin::fill(std::uint32_t channel, double level) {
  fill_[channel] = level;
  for (const Seat& seat : crossing_[channel]) {
    Flow& flow = flows_[seat.flow];
    if (flow.level == open) freeze(flow, level);
  }
}

void MaxMin::solve() {
  begin();
  seat_newcomers();
  sum_demands();
  queue_channels();
  queue_flows();
  double level = 0;
  const std::size_t channels = capacity_.size();
  const auto level_of = [&](std::uint32_t item) {
    if (item >= channels) {
      const Flow& flow = flows_[item - channels];
      return flow.level == open ? flow.ceiling : gone;
    }
    const Filling& filling = filling_[item];
    if (filling.weight == 0) return gone;
    return std::max(level, filling.capacity / static_cast<double>(filling.weight));
  };
  while (const auto next = queue_.pop(level_of)) {
    level = next->level;
    if (next->item < channels) {
      fill(next->item, level);
    } else {
      freeze(flows_[next->item - channels], level);
    }
  }
  for (std::uint32_t id = 0; id < flows_.size(); ++id) {
    Flow& flow = flows_[id];
    if (flow.weight == 0) continue;
    const std::uint32_t held_by = find_bottleneck(flow);
    if (flow.level != previous_[id] || held_by != flow.held_by) note_change(id);
    flow.held_by = held_by;
  }
  target_ = fill_;
  repaired_ = 0;
  finish();
}

}  // namespace heddle::sim
