#include "support/watch/channel_order.h"

#include <algorithm>

namespace heddle::test {

ChannelOrder::ChannelOrder(const routing::SwitchGraph& graph) : into_(graph.size()) {
  for (std::uint32_t s = 0; s < graph.size(); ++s) {
    const auto hops = graph.hops(routing::SwitchIndex{s});
    width_ = std::max(width_, hops.size());
    for (std::uint32_t i = 0; i < hops.size(); ++i) {
      const auto channel = static_cast<Channel>(graph.first_hop(routing::SwitchIndex{s}) + i);
      const routing::SwitchIndex peer = hops[i].peer;
      const auto first = static_cast<Channel>(graph.first_hop(peer));
      local_.push_back(i);
      from_.push_back(s);
      next_.emplace_back(first, first + static_cast<Channel>(graph.hops(peer).size()));
      into_[peer.raw()].push_back(channel);
    }
  }
  now_.assign(local_.size() * width_, 0);
  at_rest_.assign(local_.size() * width_, 0);
  met_.assign(local_.size(), 0);
  for (std::uint32_t i = 0; i < local_.size(); ++i) place_.push_back(i);
}

template <class Depends, class Done>
std::vector<ChannelOrder::Channel> ChannelOrder::walk(Depends depends, Done done) const {
  enum : std::uint8_t { Unseen, OnPath, Left };
  struct Visit {
    Channel channel;
    Channel next;
  };
  std::vector<std::uint8_t> state(local_.size(), Unseen);
  std::vector<Visit> path;
  std::vector<Channel> cycle;
  for (Channel start = 0; start < local_.size(); ++start) {
    if (state[start] != Unseen) continue;
    state[start] = OnPath;
    path.push_back({start, next_[start].first});
    while (!path.empty()) {
      Visit& visit = path.back();
      if (visit.next == next_[visit.channel].second) {
        state[visit.channel] = Left;
        done(visit.channel);
        path.pop_back();
        continue;
      }
      const Channel next = visit.next++;
      if (state[next] == Left || !depends(visit.channel, next)) continue;
      if (state[next] == Unseen) {
        state[next] = OnPath;
        path.push_back({next, next_[next].first});
      } else if (cycle.empty()) {
        auto from = path.begin();
        while (from->channel != next) ++from;
        for (; from != path.end(); ++from) cycle.push_back(from->channel);
      }
    }
  }
  return cycle;
}

void ChannelOrder::clear() {
  std::fill(now_.begin(), now_.end(), 0);
  std::fill(at_rest_.begin(), at_rest_.end(), std::uint8_t{0});
  parted_.clear();
  backward_.clear();
}

void ChannelOrder::arrange() {
  // The reverse of the order in which a walk, depth first, leaves them.
  auto place = static_cast<std::uint32_t>(local_.size());
  walk([this](Channel before, Channel after) { return depends(before, after); },
       [&](Channel done) { place_[done] = --place; });
  backward_.clear();
  for (Channel channel = 0; channel < local_.size(); ++channel) {
    for (Channel next = next_[channel].first; next < next_[channel].second; ++next) {
      if (place_[channel] > place_[next] && depends(channel, next)) backward_.emplace_back(channel, next);
    }
  }
}

void ChannelOrder::rest() {
  for (std::size_t i = 0; i < now_.size(); ++i) at_rest_[i] = now_[i] != 0 ? 1 : 0;
}

void ChannelOrder::packets_live(Picoseconds life) {
  life_ = life;
  std::fill(at_rest_.begin(), at_rest_.end(), std::uint8_t{0});
  parted_.clear();
  parted_at_.assign(now_.size(), Picoseconds{0});
}

void ChannelOrder::part(std::size_t dependency) {
  at_rest_[dependency] = 1;
  parted_at_[dependency] = time_;
  parted_.emplace_back(time_, dependency);
}

void ChannelOrder::pass_to(Picoseconds now) {
  time_ = now;
  for (; !parted_.empty() && parted_.front().first + *life_ <= now; parted_.pop_front()) {
    const auto [at, dependency] = parted_.front();
    // Unless it has come and gone once more since.
    if (parted_at_[dependency] == at) at_rest_[dependency] = 0;
  }
}

bool ChannelOrder::has_cycle() {
  if (backward_.empty()) return false;
  std::sort(backward_.begin(), backward_.end());
  backward_.erase(std::unique(backward_.begin(), backward_.end()), backward_.end());
  for (const auto& [before, after] : std::exchange(backward_, {})) {
    if (depends(before, after) && place_[before] > place_[after]) put(before, after);
  }
  return !backward_.empty();
}

void ChannelOrder::put(Channel before, Channel after) {
  // What comes after `after`, and what before `before`, in the part of the order between the two.
  const std::uint32_t first = place_[after];
  const std::uint32_t last = place_[before];
  const auto leave = [this] {
    for (const Channel channel : after_) met_[channel] = 0;
    for (const Channel channel : before_) met_[channel] = 0;
  };
  after_.assign(1, after);
  before_.assign(1, before);
  met_[after] = 1;
  for (std::size_t i = 0; i < after_.size(); ++i) {
    const Channel at = after_[i];
    for (Channel next = next_[at].first; next < next_[at].second; ++next) {
      if (!depends(at, next) || place_[next] < place_[at] || place_[next] > last) continue;
      if (next == before) {
        backward_.emplace_back(before, after);
        return leave();
      }
      if (std::exchange(met_[next], std::uint8_t{1}) == 0) after_.push_back(next);
    }
  }
  met_[before] = 1;
  for (std::size_t i = 0; i < before_.size(); ++i) {
    const Channel at = before_[i];
    for (const Channel previous : into_[from_[at]]) {
      if (place_[previous] > place_[at] || place_[previous] < first || !depends(previous, at)) continue;
      if (std::exchange(met_[previous], std::uint8_t{1}) == 0) before_.push_back(previous);
    }
  }
  leave();
  const auto by_place = [this](Channel x, Channel y) { return place_[x] < place_[y]; };
  std::sort(before_.begin(), before_.end(), by_place);
  std::sort(after_.begin(), after_.end(), by_place);
  places_.clear();
  for (const Channel channel : before_) places_.push_back(place_[channel]);
  for (const Channel channel : after_) places_.push_back(place_[channel]);
  std::sort(places_.begin(), places_.end());
  std::size_t at = 0;
  for (const Channel channel : before_) place_[channel] = places_[at++];
  for (const Channel channel : after_) place_[channel] = places_[at++];
}

std::vector<ChannelOrder::Channel> ChannelOrder::find_cycle_of_now() const {
  return walk([this](Channel before, Channel after) { return now_[at(before, after)] != 0; }, [](Channel) {});
}
std::vector<ChannelOrder::Channel> ChannelOrder::find_cycle() const {
  return walk([this](Channel before, Channel after) { return depends(before, after); }, [](Channel) {});
}
std::vector<ChannelOrder::Channel> ChannelOrder::find_cycle(std::span<const std::uint8_t> passes) const {
  return walk(
      [&](Channel before, Channel after) {
        return passes[before] != 0 && passes[after] != 0 && depends(before, after);
      },
      [](Channel) {});
}

}  // namespace heddle::test
