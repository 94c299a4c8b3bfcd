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

std::vector<LegalPaths::Affected> LegalPaths::update(const LinkSet& active,
                                                     std::span<const LinkIndex> changed) {
  const std::size_t n = graph_->size();
  std::vector<std::uint8_t> touched(n, 0);  // an end of a changed link
  std::vector<std::uint8_t> down_dirty(n, 0);
  std::vector<std::uint8_t> distance_dirty(n, 0);
  std::vector<std::vector<SwitchIndex>> differs(n);
  std::vector<std::uint8_t> is_changed_link(active.universe(), 0);
  for (const LinkIndex link : changed) is_changed_link[link.raw()] = 1;

  std::vector<Distance> fresh(stride_);
  const auto replace = [&](SwitchIndex s, Distance* old) {
    if (std::memcmp(old, fresh.data(), stride_) == 0) return false;
    for (std::uint32_t d = 0; d < n; ++d) {
      if (old[d] != fresh[d]) differs[s.raw()].push_back(SwitchIndex{d});
    }
    std::memcpy(old, fresh.data(), stride_);
    return true;
  };
  for (std::uint32_t i = 0; i < n; ++i) {
    for (const Hop& hop : graph_->hops(SwitchIndex{i})) touched[i] |= is_changed_link[hop.link.raw()];
    down_dirty[i] = distance_dirty[i] = touched[i];
  }
  const auto order = ranks_->order();
  for (auto it = order.rbegin(); it != order.rend(); ++it) {
    if (down_dirty[it->raw()] == 0) continue;
    make_down(*it, &active, fresh.data());
    if (!replace(*it, &down_[it->raw() * stride_])) continue;
    distance_dirty[it->raw()] = 1;
    for (const Hop& hop : graph_->hops(*it)) {
      if (ranks_->above(hop.peer, *it)) down_dirty[hop.peer.raw()] = 1;
    }
  }
  for (const SwitchIndex s : order) {
    if (distance_dirty[s.raw()] == 0) continue;
    make_distance(s, &active, fresh.data());
    if (!replace(s, &distance_[s.raw() * stride_])) continue;
    for (const Hop& hop : graph_->hops(s)) {
      if (ranks_->above(s, hop.peer)) distance_dirty[hop.peer.raw()] = 1;
    }
  }

  std::vector<Affected> result;
  std::vector<std::uint8_t> marked(n);
  for (std::uint32_t i = 0; i < n; ++i) {
    const SwitchIndex s{i};
    bool any = touched[i] != 0 || !differs[i].empty();
    for (const Hop& hop : graph_->hops(s)) any = any || !differs[hop.peer.raw()].empty();
    if (!any) continue;
    Affected affected{s, {}};
    std::fill(marked.begin(), marked.end(), std::uint8_t{0});
    const auto mark = [&](const std::vector<SwitchIndex>& destinations) {
      for (const SwitchIndex d : destinations) marked[d.raw()] = 1;
    };
    mark(differs[i]);
    SwitchIndex last = no_switch;
    for (const Hop& hop : graph_->hops(s)) {
      if (hop.peer != last) mark(differs[hop.peer.raw()]);
      last = hop.peer;
      if (is_changed_link[hop.link.raw()] == 0) continue;
      const auto reach = distance(hop.peer);
      for (std::size_t d = 0; d < n; ++d) marked[d] |= reach[d] != far ? 1 : 0;
    }
    for (std::uint32_t d = 0; d < n; ++d) {
      if (marked[d] != 0) affected.destinations.push_back(SwitchIndex{d});
    }
    if (!affected.destinations.empty()) result.push_back(std::move(affected));
  }
  return result;
}

}  // namespace heddle::routing
