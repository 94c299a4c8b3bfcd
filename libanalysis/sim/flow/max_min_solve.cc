// Water filling: the level of all flows rises together; a flow stops at its demand, or with the first channel
// on its path that is full. The next channel to fill comes from a heap whose keys may be too low, because a
// channel's level only rises as flows stop elsewhere: the top is corrected until it is right.

#include <algorithm>

#include "sim/flow/max_min.h"

namespace heddle::sim {
namespace {

/// A sum of rates may exceed a capacity by so much through rounding.
constexpr double rounding = 1e-12;
constexpr double open = -1;

/// Restores the heap (smallest key first) after its top was replaced.
template <class Keyed>
void sift_top(std::vector<Keyed>& heap) {
  const std::size_t size = heap.size();
  const Keyed moving = heap.front();
  std::size_t hole = 0;
  for (std::size_t child = 1; child < size; child = 2 * hole + 1) {
    if (child + 1 < size && heap[child + 1].key < heap[child].key) ++child;
    if (moving.key <= heap[child].key) break;
    heap[hole] = heap[child];
    hole = child;
  }
  heap[hole] = moving;
}

template <class Keyed>
void pop_top(std::vector<Keyed>& heap) {
  heap.front() = heap.back();
  heap.pop_back();
  if (!heap.empty()) sift_top(heap);
}

}  // namespace

void MaxMin::prepare_filling() {
  filling_.resize(capacity_.size());
  wanted_.assign(capacity_.size(), 0);
  for (std::size_t c = 0; c < capacity_.size(); ++c) filling_[c] = {capacity_[c], 0, 0};
  for (std::uint32_t flow = 0; flow < level_.size(); ++flow) {
    const double weight = weight_[flow];
    if (weight == 0) continue;
    const double demand = ceiling_[flow] * weight;
    for (const Hop& hop : paths_[flow]) {
      filling_[hop.channel].weight += weight;
      ++filling_[hop.channel].open;
      wanted_[hop.channel] += demand;
    }
  }
  heap_.clear();
  for (std::uint32_t c = 0; c < capacity_.size(); ++c) {
    fill_[c] = none;
    // A channel with room for everything that is wanted of it holds back nobody.
    if (filling_[c].open == 0 || wanted_[c] <= capacity_[c] * (1 + rounding)) continue;
    heap_.push_back({capacity_[c] / filling_[c].weight, c});
  }
  std::make_heap(heap_.begin(), heap_.end(), [](const Keyed& a, const Keyed& b) { return a.key > b.key; });

  previous_.swap(level_);
  level_.assign(previous_.size(), open);
  by_ceiling_.clear();
  next_ceiling_ = 0;
  for (std::uint32_t flow = 0; flow < level_.size(); ++flow) {
    if (weight_[flow] == 0) {
      level_[flow] = 0;
      continue;
    }
    double narrowest = none;
    for (const Hop& hop : paths_[flow]) {
      if (capacity_[hop.channel] * (1 + rounding) < wanted_[hop.channel]) {
        narrowest = std::min(narrowest, capacity_[hop.channel]);
      }
    }
    if (narrowest == none) {
      level_[flow] = ceiling_[flow];
    } else if (ceiling_[flow] * weight_[flow] < narrowest) {
      by_ceiling_.push_back({ceiling_[flow], flow});
    }
  }
  std::sort(by_ceiling_.begin(), by_ceiling_.end(),
            [](const Keyed& a, const Keyed& b) { return a.key < b.key; });
}

void MaxMin::freeze(std::uint32_t flow, double level) {
  level_[flow] = level;
  const double weight = weight_[flow];
  const double rate = level * weight;
  for (const Hop& hop : paths_[flow]) {
    Filling& filling = filling_[hop.channel];
    filling.capacity -= rate;
    filling.weight -= weight;
    --filling.open;
  }
}

/// Stops the flows that have their demand at this level.
void MaxMin::freeze_satisfied(double level) {
  for (; next_ceiling_ < by_ceiling_.size() && by_ceiling_[next_ceiling_].key <= level; ++next_ceiling_) {
    const auto [ceiling, flow] = by_ceiling_[next_ceiling_];
    if (level_[flow] == open) freeze(flow, ceiling);
  }
}

void MaxMin::fill(std::uint32_t channel, double level) {
  fill_[channel] = level;
  for (const Seat& seat : crossing_[channel]) {
    if (level_[seat.flow] == open) freeze(seat.flow, level);
  }
}

void MaxMin::solve() {
  begin();
  prepare_filling();
  double level = 0;
  while (!heap_.empty()) {
    const auto [key, channel] = heap_.front();
    const Filling& filling = filling_[channel];
    if (filling.open == 0) {
      pop_top(heap_);
      continue;
    }
    const double right = std::max(level, filling.capacity / filling.weight);
    if (key < right) {
      heap_.front().key = right;
      sift_top(heap_);
      continue;
    }
    if (next_ceiling_ < by_ceiling_.size() && by_ceiling_[next_ceiling_].key <= key) {
      freeze_satisfied(key);
      continue;
    }
    level = key;
    pop_top(heap_);
    fill(channel, level);
  }
  for (std::uint32_t flow = 0; flow < level_.size(); ++flow) {
    if (level_[flow] != previous_[flow]) note_change(flow);
  }
  target_ = fill_;
  repaired_ = 0;
  finish();
}

}  // namespace heddle::sim
