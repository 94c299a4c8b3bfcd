#include "routing/legal_paths.h"

#include <algorithm>
#include <bit>
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

/// A set of destinations for every switch, a bit each.
class DestinationSets {
 public:
  explicit DestinationSets(std::size_t switches)
      : words_{(switches + 63) / 64}, bits_(switches * words_, 0), any_(switches, 0) {}

  [[nodiscard]] std::span<std::uint64_t> of(SwitchIndex s) {
    return std::span(bits_).subspan(s.raw() * words_, words_);
  }
  [[nodiscard]] bool empty(SwitchIndex s) const { return any_[s.raw()] == 0; }
  void add(SwitchIndex s, std::span<const std::uint64_t> more) {
    const std::span<std::uint64_t> set = of(s);
    for (std::size_t w = 0; w < words_; ++w) set[w] |= more[w];
    any_[s.raw()] = 1;
  }

 private:
  std::size_t words_;
  std::vector<std::uint64_t> bits_;
  std::vector<std::uint8_t> any_;
};

void mark(std::span<std::uint64_t> set, std::size_t d) { set[d / 64] |= std::uint64_t{1} << (d % 64); }

template <class F>
void for_each(std::span<const std::uint64_t> set, F&& f) {
  for (std::size_t w = 0; w < set.size(); ++w) {
    for (std::uint64_t word = set[w]; word != 0; word &= word - 1)
      f(static_cast<std::uint32_t>(w * 64 + static_cast<std::size_t>(std::countr_zero(word))));
  }
}

std::size_t count(std::span<const std::uint64_t> set) {
  std::size_t n = 0;
  for (const std::uint64_t word : set) n += static_cast<std::size_t>(std::popcount(word));
  return n;
}

/// One entry costs about as much by itself as so many of a whole row.
constexpr std::size_t row_entries_per_entry = 32;

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
  DestinationSets down_dirty(n);
  DestinationSets distance_dirty(n);
  DestinationSets affected(n);
  for (std::uint32_t i = 0; i < n; ++i) {
    for (const Hop& hop : graph_->hops(SwitchIndex{i})) touched[i] |= is_changed_link[hop.link.raw()];
  }

  std::vector<Distance> scratch(stride_);
  std::vector<std::uint64_t> differs((n + 63) / 64);
  // Recomputes a row, or what is dirty of it; true where anything differs.
  const auto refresh = [&](SwitchIndex s, std::span<const std::uint64_t> dirty, Distance* row, auto make_row,
                           auto compute) {
    std::fill(differs.begin(), differs.end(), 0);
    bool any = false;
    const auto put = [&](std::uint32_t d, Distance value) {
      if (row[d] == value) return;
      row[d] = value;
      mark(differs, d);
      any = true;
    };
    if (touched[s.raw()] != 0 || count(dirty) * row_entries_per_entry > n) {
      make_row(s, &active, scratch.data());
      if (std::memcmp(row, scratch.data(), n) == 0) return false;
      for (std::uint32_t d = 0; d < n; ++d) put(d, scratch[d]);
    } else {
      for_each(dirty, [&](std::uint32_t d) { put(d, compute(s, active, SwitchIndex{d})); });
    }
    if (!any) return false;
    affected.add(s, differs);
    for (const Hop& hop : graph_->hops(s)) affected.add(hop.peer, differs);
    return true;
  };
  const auto order = ranks_->order();
  for (auto it = order.rbegin(); it != order.rend(); ++it) {
    const SwitchIndex s = *it;
    if (touched[s.raw()] == 0 && down_dirty.empty(s)) continue;
    const bool differ = refresh(
        s, down_dirty.of(s), &down_[s.raw() * stride_], [this](auto... args) { make_down(args...); },
        [this](auto&&... args) { return down_now(args...); });
    if (!differ) continue;
    distance_dirty.add(s, differs);
    for (const Hop& hop : graph_->hops(s)) {
      if (ranks_->above(hop.peer, s)) down_dirty.add(hop.peer, differs);
    }
  }
  for (const SwitchIndex s : order) {
    if (touched[s.raw()] == 0 && distance_dirty.empty(s)) continue;
    const bool differ = refresh(
        s, distance_dirty.of(s), &distance_[s.raw() * stride_],
        [this](auto... args) { make_distance(args...); },
        [this](auto&&... args) { return distance_now(args...); });
    if (!differ) continue;
    for (const Hop& hop : graph_->hops(s)) {
      if (ranks_->above(s, hop.peer)) distance_dirty.add(hop.peer, differs);
    }
  }

  std::vector<Affected> result;
  for (std::uint32_t i = 0; i < n; ++i) {
    const SwitchIndex s{i};
    if (touched[i] != 0) {
      std::memset(scratch.data(), far, stride_);
      SwitchIndex last = no_switch;
      for (const Hop& hop : graph_->hops(s)) {
        if (is_changed_link[hop.link.raw()] == 0 || hop.peer == last) continue;
        last = hop.peer;
        take_smaller(scratch.data(), distance(hop.peer).data(), n);
      }
      std::fill(differs.begin(), differs.end(), 0);
      for (std::uint32_t d = 0; d < n; ++d) differs[d / 64] |= std::uint64_t{scratch[d] != far} << (d % 64);
      affected.add(s, differs);
    }
    if (affected.empty(s)) continue;
    Affected& entry = result.emplace_back(Affected{s, {}});
    entry.destinations.reserve(count(affected.of(s)));
    for_each(affected.of(s), [&](std::uint32_t d) { entry.destinations.push_back(SwitchIndex{d}); });
  }
  return result;
}

}  // namespace heddle::routing
