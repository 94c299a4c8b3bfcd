#include "routing/legal_paths.h"

#include <algorithm>
#include <cstring>

namespace heddle::routing {
namespace {

using Distance = LegalPaths::Distance;

void take_smaller(Distance* into, const Distance* from, std::size_t n) {
  for (std::size_t i = 0; i < n; ++i) into[i] = from[i] < into[i] ? from[i] : into[i];
}

void one_hop_more(Distance* row, std::size_t n) {
  for (std::size_t i = 0; i < n; ++i) row[i] = row[i] == LegalPaths::far ? LegalPaths::far : row[i] + 1;
}

/// A set of destinations that remembers what is in it.
struct Marks {
  std::vector<SwitchIndex> list;
  std::vector<std::uint8_t> has;

  void add(SwitchIndex d, std::size_t n) {
    if (has.empty()) has.resize(n, 0);
    if (has[d.raw()] != 0) return;
    has[d.raw()] = 1;
    list.push_back(d);
  }
  void add(const std::vector<SwitchIndex>& more, std::size_t n) {
    for (const SwitchIndex d : more) add(d, n);
  }
  void sort() { std::sort(list.begin(), list.end()); }
};

bool usable(const LinkSet* active, const Hop& hop) { return active == nullptr || active->contains(hop.link); }

}  // namespace

LegalPaths::LegalPaths(const SwitchGraph& graph, const Ranks& ranks, const LinkSet* active)
    : graph_{&graph},
      ranks_{&ranks},
      stride_{(graph.size() + 63) / 64 * 64},
      down_(graph.size() * stride_, far),
      distance_(graph.size() * stride_, far) {
  const auto order = ranks.order();
  for (auto it = order.rbegin(); it != order.rend(); ++it)
    make_down(*it, active, &down_[it->raw() * stride_]);
  for (const SwitchIndex s : order) make_distance(s, active, &distance_[s.raw() * stride_]);
}

void LegalPaths::make_down(SwitchIndex s, const LinkSet* active, Distance* out) const {
  std::memset(out, far, stride_);
  SwitchIndex last = no_switch;
  for (const Hop& hop : graph_->hops(s)) {
    if (hop.peer == last || !ranks_->above(s, hop.peer) || !usable(active, hop)) continue;
    take_smaller(out, &down_[hop.peer.raw() * stride_], stride_);
    last = hop.peer;
  }
  one_hop_more(out, stride_);
  out[s.raw()] = 0;
}

void LegalPaths::make_distance(SwitchIndex s, const LinkSet* active, Distance* out) const {
  std::memset(out, far, stride_);
  SwitchIndex last = no_switch;
  for (const Hop& hop : graph_->hops(s)) {
    if (hop.peer == last || !ranks_->above(hop.peer, s) || !usable(active, hop)) continue;
    take_smaller(out, &distance_[hop.peer.raw() * stride_], stride_);
    last = hop.peer;
  }
  one_hop_more(out, stride_);
  const Distance* down = &down_[s.raw() * stride_];
  for (std::size_t i = 0; i < stride_; ++i) out[i] = down[i] != far ? down[i] : out[i];
}

LegalPaths::Distance LegalPaths::down_now(SwitchIndex s, const LinkSet& active, SwitchIndex to) const {
  if (s == to) return 0;
  Distance least = far;
  for (const Hop& hop : graph_->hops(s)) {
    if (down(hop.peer, to) < least && ranks_->above(s, hop.peer) && active.contains(hop.link))
      least = down(hop.peer, to);
  }
  return least == far ? far : static_cast<Distance>(least + 1);
}

LegalPaths::Distance LegalPaths::distance_now(SwitchIndex s, const LinkSet& active, SwitchIndex to) const {
  if (down(s, to) != far) return down(s, to);
  Distance least = far;
  for (const Hop& hop : graph_->hops(s)) {
    if (distance(hop.peer, to) < least && ranks_->above(hop.peer, s) && active.contains(hop.link)) {
      least = distance(hop.peer, to);
    }
  }
  return least == far ? far : static_cast<Distance>(least + 1);
}

std::vector<LegalPaths::Affected> LegalPaths::update(const LinkSet& active,
                                                     std::span<const LinkIndex> changed) {
  const std::size_t n = graph_->size();
  std::vector<std::uint8_t> is_changed_link(active.universe(), 0);
  for (const LinkIndex link : changed) is_changed_link[link.raw()] = 1;
  // Where a link changed, any destination may have; elsewhere those that changed at a neighbour.
  std::vector<std::uint8_t> touched(n, 0);
  std::vector<Marks> down_dirty(n);
  std::vector<Marks> distance_dirty(n);
  std::vector<Marks> affected(n);
  std::vector<SwitchIndex> everything;
  for (std::uint32_t i = 0; i < n; ++i) {
    for (const Hop& hop : graph_->hops(SwitchIndex{i})) touched[i] |= is_changed_link[hop.link.raw()];
    everything.push_back(SwitchIndex{i});
  }

  std::vector<SwitchIndex> differs;
  const auto refresh = [&](SwitchIndex s, Marks& dirty, std::vector<Distance>& matrix, auto compute) {
    differs.clear();
    if (touched[s.raw()] == 0) dirty.sort();
    for (const SwitchIndex d : touched[s.raw()] != 0 ? everything : dirty.list) {
      Distance& slot = matrix[s.raw() * stride_ + d.raw()];
      const Distance value = compute(s, active, d);
      if (slot == value) continue;
      slot = value;
      differs.push_back(d);
    }
    affected[s.raw()].add(differs, n);
    for (const Hop& hop : graph_->hops(s)) affected[hop.peer.raw()].add(differs, n);
  };
  const auto order = ranks_->order();
  for (auto it = order.rbegin(); it != order.rend(); ++it) {
    if (touched[it->raw()] == 0 && down_dirty[it->raw()].list.empty()) continue;
    refresh(*it, down_dirty[it->raw()], down_, [this](auto&&... args) { return down_now(args...); });
    distance_dirty[it->raw()].add(differs, n);
    for (const Hop& hop : graph_->hops(*it)) {
      if (ranks_->above(hop.peer, *it)) down_dirty[hop.peer.raw()].add(differs, n);
    }
  }
  for (const SwitchIndex s : order) {
    if (touched[s.raw()] == 0 && distance_dirty[s.raw()].list.empty()) continue;
    refresh(s, distance_dirty[s.raw()], distance_, [this](auto&&... args) { return distance_now(args...); });
    for (const Hop& hop : graph_->hops(s)) {
      if (ranks_->above(s, hop.peer)) distance_dirty[hop.peer.raw()].add(differs, n);
    }
  }

  std::vector<Affected> result;
  for (std::uint32_t i = 0; i < n; ++i) {
    const SwitchIndex s{i};
    if (touched[i] != 0) {
      for (const Hop& hop : graph_->hops(s)) {
        if (is_changed_link[hop.link.raw()] == 0) continue;
        const auto reach = distance(hop.peer);
        for (std::uint32_t d = 0; d < n; ++d) {
          if (reach[d] != far) affected[i].add(SwitchIndex{d}, n);
        }
      }
    }
    if (affected[i].list.empty()) continue;
    affected[i].sort();
    result.push_back({s, std::move(affected[i].list)});
  }
  return result;
}

}  // namespace heddle::routing
