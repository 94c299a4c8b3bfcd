// Repair. The level that a channel ought to have follows from the levels of the other channels of its flows,
// and only from those below it. So the right levels are found from the lowest up, as shortest paths are, and
// only where they differ from those that are there: this is the scheme of Ramalingam and Reps, "An
// incremental algorithm for a generalization of the shortest-path problem" (Journal of Algorithms 21, 1996).

#include <algorithm>
#include <cmath>
#include <utility>

#include "sim/flow/max_min.h"

namespace heddle::sim {
namespace {

constexpr double relative_rounding = 1e-12;

bool same(double a, double b) {
  if (std::isinf(a) || std::isinf(b)) return a == b;
  return std::abs(a - b) <= relative_rounding * std::max(a, b);
}

bool later(double a, double b) { return a > b; }

}  // namespace

/// The level at which the flow stops for other reasons than this channel.
double MaxMin::least_elsewhere(const Flow& flow, std::uint32_t channel) const {
  if (flow.level < fill_[channel]) return flow.level;
  double least = flow.ceiling;
  for (const std::uint32_t other : path(flow)) {
    if (other != channel) least = std::min(least, fill_[other]);
  }
  return least;
}

/// The level at which the channel is full, given where its flows stop elsewhere; none if it has room for all.
double MaxMin::fair_level(std::uint32_t channel) {
  limits_.clear();
  limit_weights_.clear();
  double wanted = 0;
  double weight = 0;
  for (const Seat& seat : crossing_[channel]) {
    const Flow& flow = flows_[seat.flow];
    const double limit = least_elsewhere(flow, channel);
    limits_.push_back(limit);
    limit_weights_.push_back(flow.weight);
    wanted += limit * flow.weight;
    weight += flow.weight;
  }
  const double capacity = capacity_[channel];
  if (limits_.empty() || wanted <= capacity * (1 + relative_rounding)) return none;
  // Each round takes out the flows that stop below the level so far, which raises it.
  double left = capacity;
  double level = left / weight;
  std::size_t open = limits_.size();
  for (std::size_t before = open + 1; open < before;) {
    before = open;
    for (std::size_t i = 0; i < open;) {
      if (limits_[i] < level) {
        left -= limits_[i] * limit_weights_[i];
        weight -= limit_weights_[i];
        --open;
        std::swap(limits_[i], limits_[open]);
        std::swap(limit_weights_[i], limit_weights_[open]);
      } else {
        ++i;
      }
    }
    if (open == 0) return none;
    if (open < before) level = std::max(level, left / weight);
  }
  return level;
}

/// Finds what the channel's level ought to be; queues it if that is not what it is.
void MaxMin::reconsider(std::uint32_t channel) {
  const double target = fair_level(channel);
  if (same(target, fill_[channel])) {
    target_[channel] = fill_[channel];
    return;
  }
  target_[channel] = target;
  heap_.push_back({std::min(target, fill_[channel]), channel});
  std::push_heap(heap_.begin(), heap_.end(),
                 [](const Entry& a, const Entry& b) { return later(a.level, b.level); });
}

/// Sets the channel's level and reconsiders the channels that can feel it: those of a flow that stops nowhere
/// else at or below both the old and the new level.
void MaxMin::set_level(std::uint32_t channel, double level) {
  const double old = std::exchange(fill_[channel], level);
  const double lower = std::min(old, level);
  affected_.clear();
  for (const Seat& seat : crossing_[channel]) {
    Flow& flow = flows_[seat.flow];
    if (flow.level < lower) continue;
    double elsewhere = flow.ceiling;
    for (const std::uint32_t other : path(flow)) {
      if (other != channel) elsewhere = std::min(elsewhere, fill_[other]);
    }
    const double now = std::min(elsewhere, level);
    if (now != flow.level || now == old || now == level) note_change(seat.flow);
    flow.level = now;
    if (elsewhere <= lower) continue;
    for (const std::uint32_t other : path(flow)) {
      if (other == channel || is_affected_[other] != 0) continue;
      if (level < old && fill_[other] == none && target_[other] == none) continue;  // it only gets more room
      is_affected_[other] = 1;
      affected_.push_back(other);
    }
  }
  for (const std::uint32_t other : affected_) {
    is_affected_[other] = 0;
    reconsider(other);
  }
}

/// False if it gave up, with rates that mean nothing.
bool MaxMin::repair() {
  const auto by_key = [](const Entry& a, const Entry& b) { return later(a.level, b.level); };
  const std::size_t budget = 256 + capacity_.size() / 16;
  heap_.clear();
  repaired_ = 0;
  for (const std::uint32_t channel : touched_) reconsider(channel);
  while (!heap_.empty()) {
    const auto [key, channel] = heap_.front();
    std::pop_heap(heap_.begin(), heap_.end(), by_key);
    heap_.pop_back();
    const double current = fill_[channel];
    const double target = target_[channel];
    if (same(target, current) || key != std::min(target, current)) continue;
    if (++repaired_ > budget) return false;
    if (target < current) {
      set_level(channel, target);
    } else {
      // Its flows may rise: what they take elsewhere comes before its own level is known.
      set_level(channel, none);
      reconsider(channel);
    }
  }
  return true;
}

void MaxMin::update() {
  if (touched_.size() > capacity_.size() / 8 + 64) {
    solve();
    return;
  }
  begin();
  seat_newcomers();
  if (!repair()) {
    solve();
    return;
  }
  for (const FlowId id : changed_) flows_[id.raw()].held_by = find_bottleneck(flows_[id.raw()]);
  finish();
}

}  // namespace heddle::sim
