#include "sim/flow/max_min.h"

#include <algorithm>
#include <cassert>
#include <utility>

namespace heddle::sim {

MaxMin::MaxMin(std::span<const BitRate> capacities) {
  for (const BitRate capacity : capacities) add_channel(capacity);
}

ChannelId MaxMin::add_channel(BitRate capacity) {
  const ChannelId id{static_cast<std::uint32_t>(capacity_.size())};
  capacity_.push_back(capacity.value());
  fill_.push_back(none);
  target_.push_back(none);
  is_touched_.push_back(0);
  is_affected_.push_back(0);
  sizes_.push_back(0);
  crossing_.resize(capacity_.size());
  return id;
}

FlowId MaxMin::add(std::span<const ChannelId> path, BitRate demand, std::uint32_t weight) {
  assert(!path.empty() && demand.value() >= 0 && weight > 0);
  std::uint32_t id = 0;
  if (free_.empty()) {
    id = static_cast<std::uint32_t>(flows_.size());
    flows_.emplace_back();
  } else {
    id = free_.back();
    free_.pop_back();
  }
  Flow& flow = flows_[id];
  if (flow.room < path.size()) {
    flow.room = static_cast<std::uint32_t>(flow.room == 0 ? path.size() : 2 * path.size());
    flow.path = static_cast<std::uint32_t>(hop_channel_.size());
    hop_channel_.resize(hop_channel_.size() + flow.room);
    hop_seat_.resize(hop_channel_.size());
  }
  flow.hops = static_cast<std::uint32_t>(path.size());
  flow.ceiling = demand.value() / weight;
  flow.weight = weight;
  flow.level = flow.ceiling;
  for (std::size_t i = 0; i < path.size(); ++i) {
    const std::uint32_t channel = path[i].raw();
    hop_channel_[flow.path + i] = channel;
    flow.level = std::min(flow.level, fill_[channel]);
    touch(channel);
  }
  newcomers_.push_back(id);
  ++flow_count_;
  note_change(id);
  return FlowId{id};
}

void MaxMin::remove(FlowId id) {
  Flow& flow = flows_[id.raw()];
  assert(flow.weight > 0);
  for (std::uint32_t hop = flow.path; hop < flow.path + flow.hops; ++hop) {
    const std::uint32_t channel = hop_channel_[hop];
    touch(channel);
    if (!flow.seated) continue;
    const auto seats = crossing_[channel];
    const Seat last = seats.back();
    seats[hop_seat_[hop]] = last;
    hop_seat_[last.hop] = hop_seat_[hop];
    crossing_.drop_last(channel);
  }
  flow.seated = false;
  flow.level = 0;
  flow.weight = 0;
  free_.push_back(id.raw());
  --flow_count_;
}

void MaxMin::set_demand(FlowId id, BitRate demand) {
  Flow& flow = flows_[id.raw()];
  flow.ceiling = demand.value() / flow.weight;
  flow.level = flow.ceiling;
  for (const std::uint32_t channel : path(flow)) {
    flow.level = std::min(flow.level, fill_[channel]);
    touch(channel);
  }
  note_change(id.raw());
}

void MaxMin::set_capacity(ChannelId channel, BitRate capacity) {
  capacity_[channel.raw()] = capacity.value();
  touch(channel.raw());
}

std::uint32_t MaxMin::find_bottleneck(const Flow& flow) const {
  if (flow.level >= flow.ceiling) return no_channel.raw();
  for (const std::uint32_t channel : path(flow)) {
    if (fill_[channel] <= flow.level) return channel;
  }
  return no_channel.raw();
}

BitRate MaxMin::pressure(ChannelId channel) const {
  double sum = 0;
  for (const Seat& seat : crossing_[channel.raw()]) {
    const Flow& flow = flows_[seat.flow];
    sum += least_elsewhere(flow, channel.raw()) * flow.weight;
  }
  return BitRate{sum};
}

BitRate MaxMin::carried(ChannelId channel) const {
  double sum = 0;
  for (const Seat& seat : crossing_[channel.raw()]) sum += flows_[seat.flow].level * flows_[seat.flow].weight;
  return BitRate{sum};
}

void MaxMin::touch(std::uint32_t channel) {
  if (std::exchange(is_touched_[channel], 1) == 0) touched_.push_back(channel);
}

void MaxMin::note_change(std::uint32_t flow) {
  begin();
  if (!std::exchange(flows_[flow].changed, true)) changed_.push_back(FlowId{flow});
}

/// Starts a list of changes, unless one has been started.
void MaxMin::begin() {
  if (!std::exchange(changes_are_old_, false)) return;
  for (const FlowId old : changed_) flows_[old.raw()].changed = false;
  changed_.clear();
}

void MaxMin::finish() {
  for (const std::uint32_t channel : touched_) is_touched_[channel] = 0;
  touched_.clear();
  std::erase_if(changed_, [this](FlowId id) {
    Flow& flow = flows_[id.raw()];
    if (flow.weight == 0) flow.changed = false;
    return flow.weight == 0;
  });
  changes_are_old_ = true;
}

void MaxMin::seat(std::uint32_t id) {
  Flow& flow = flows_[id];
  for (std::uint32_t hop = flow.path; hop < flow.path + flow.hops; ++hop) {
    const std::uint32_t channel = hop_channel_[hop];
    hop_seat_[hop] = static_cast<std::uint32_t>(crossing_[channel].size());
    crossing_.append(channel, Seat{id, hop});
  }
  flow.seated = true;
}

void MaxMin::seat_newcomers() {
  if (newcomers_.empty()) return;
  if (newcomers_.size() > flow_count_ / 4) {
    seat_all();
  } else {
    for (const std::uint32_t id : newcomers_) {
      if (flows_[id].weight != 0 && !flows_[id].seated) seat(id);
    }
  }
  newcomers_.clear();
}

void MaxMin::seat_all() {
  std::fill(sizes_.begin(), sizes_.end(), 0);
  for (const Flow& flow : flows_) {
    if (flow.weight == 0) continue;
    for (const std::uint32_t channel : path(flow)) ++sizes_[channel];
  }
  crossing_.lay_out(sizes_);
  for (std::uint32_t id = 0; id < flows_.size(); ++id) {
    if (flows_[id].weight != 0) seat(id);
  }
}

}  // namespace heddle::sim
