#include "sim/flow/max_min.h"

#include <algorithm>
#include <cassert>
#include <utility>

namespace heddle::sim {

MaxMin::MaxMin(std::vector<BitRate> capacities) {
  const std::size_t channels = capacities.size();
  capacity_.reserve(channels);
  for (const BitRate capacity : capacities) capacity_.push_back(capacity.value());
  fill_.assign(channels, none);
  target_.assign(channels, none);
  is_touched_.assign(channels, 0);
  is_affected_.assign(channels, 0);
  crossing_.resize(channels);
}

FlowId MaxMin::add(std::span<const ChannelId> path, BitRate demand, double weight) {
  assert(!path.empty() && demand.value() >= 0 && weight > 0);
  std::uint32_t flow = 0;
  if (free_.empty()) {
    flow = static_cast<std::uint32_t>(level_.size());
    level_.push_back(0);
    ceiling_.push_back(0);
    weight_.push_back(0);
    is_changed_.push_back(0);
    paths_.resize(level_.size());
  } else {
    flow = free_.back();
    free_.pop_back();
  }
  ceiling_[flow] = demand.value() / weight;
  weight_[flow] = weight;
  double level = ceiling_[flow];
  paths_.clear(flow);
  for (std::uint32_t hop = 0; hop < path.size(); ++hop) {
    const std::uint32_t channel = path[hop].raw();
    paths_.append(flow, Hop{channel, static_cast<std::uint32_t>(crossing_[channel].size())});
    crossing_.append(channel, Seat{flow, hop});
    level = std::min(level, fill_[channel]);
    touch(channel);
  }
  level_[flow] = level;
  ++flow_count_;
  note_change(flow);
  return FlowId{flow};
}

void MaxMin::remove(FlowId id) {
  const std::uint32_t flow = id.raw();
  assert(weight_[flow] > 0);
  for (const Hop& hop : paths_[flow]) {
    const auto seats = crossing_[hop.channel];
    const Seat last = seats.back();
    seats[hop.seat] = last;
    paths_[last.flow][last.hop].seat = hop.seat;
    crossing_.drop_last(hop.channel);
    touch(hop.channel);
  }
  level_[flow] = 0;
  weight_[flow] = 0;
  free_.push_back(flow);
  --flow_count_;
}

void MaxMin::set_demand(FlowId id, BitRate demand) {
  const std::uint32_t flow = id.raw();
  ceiling_[flow] = demand.value() / weight_[flow];
  double level = ceiling_[flow];
  for (const Hop& hop : paths_[flow]) {
    level = std::min(level, fill_[hop.channel]);
    touch(hop.channel);
  }
  level_[flow] = level;
  note_change(flow);
}

void MaxMin::set_capacity(ChannelId channel, BitRate capacity) {
  capacity_[channel.raw()] = capacity.value();
  touch(channel.raw());
}

ChannelId MaxMin::bottleneck(FlowId id) const {
  const std::uint32_t flow = id.raw();
  if (level_[flow] >= ceiling_[flow]) return no_channel;
  for (const Hop& hop : paths_[flow]) {
    if (fill_[hop.channel] <= level_[flow]) return ChannelId{hop.channel};
  }
  return no_channel;
}

BitRate MaxMin::carried(ChannelId channel) const {
  double sum = 0;
  for (const Seat& seat : crossing_[channel.raw()]) sum += level_[seat.flow] * weight_[seat.flow];
  return BitRate{sum};
}

void MaxMin::touch(std::uint32_t channel) {
  if (std::exchange(is_touched_[channel], 1) == 0) touched_.push_back(channel);
}

void MaxMin::note_change(std::uint32_t flow) {
  begin();
  if (std::exchange(is_changed_[flow], 1) == 0) changed_.push_back(FlowId{flow});
}

/// Starts a list of changes, unless one has been started.
void MaxMin::begin() {
  if (!std::exchange(changes_are_old_, false)) return;
  for (const FlowId old : changed_) is_changed_[old.raw()] = 0;
  changed_.clear();
}

void MaxMin::finish() {
  for (const std::uint32_t channel : touched_) is_touched_[channel] = 0;
  touched_.clear();
  std::erase_if(changed_, [this](FlowId flow) {
    const bool gone = weight_[flow.raw()] == 0;
    if (gone) is_changed_[flow.raw()] = 0;
    return gone;
  });
  changes_are_old_ = true;
}

}  // namespace heddle::sim
