#include "routing/ranks.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "routing/balance.h"
#include "routing/legal_paths.h"

namespace heddle::routing {
namespace {

constexpr std::uint16_t unranked = 0xffff;

/// Cables to the nearest of the seeds; unranked where none is reached.
std::vector<std::uint16_t> distance_from(const SwitchGraph& graph, std::vector<SwitchIndex> seeds) {
  std::vector<std::uint16_t> distance(graph.size(), unranked);
  for (const SwitchIndex s : seeds) distance[s.raw()] = 0;
  for (std::size_t i = 0; i < seeds.size(); ++i) {
    const SwitchIndex s = seeds[i];
    for (const Hop& hop : graph.hops(s)) {
      if (distance[hop.peer.raw()] != unranked) continue;
      distance[hop.peer.raw()] = static_cast<std::uint16_t>(distance[s.raw()] + 1);
      seeds.push_back(hop.peer);
    }
  }
  return distance;
}

/// Rank 0 for those farthest from the seeds.
std::vector<std::uint16_t> upside_down(std::vector<std::uint16_t> distance) {
  std::uint16_t largest = 0;
  for (const std::uint16_t d : distance) {
    if (d != unranked) largest = std::max(largest, d);
  }
  for (std::uint16_t& d : distance) d = d == unranked ? unranked : static_cast<std::uint16_t>(largest - d);
  return distance;
}

std::vector<SwitchIndex> switches_with_hosts(const SwitchGraph& graph, std::uint32_t least) {
  std::vector<SwitchIndex> result;
  for (std::uint32_t s = 0; s < graph.size(); ++s) {
    if (graph.hosts_at(SwitchIndex{s}) >= least) result.push_back(SwitchIndex{s});
  }
  return result;
}

struct Centre {
  std::vector<SwitchIndex> nearest;  ///< least distance to the farthest host switch
  SwitchIndex best = no_switch;      ///< of these the one with the least sum, then the least GUID
  std::vector<std::uint64_t> sum;    ///< by switch: of the distances to all hosts
};

Centre find_centre(const SwitchGraph& graph, const std::vector<SwitchIndex>& host_switches) {
  const std::size_t n = graph.size();
  std::vector<std::uint32_t> farthest(n, 0);
  std::vector<std::uint64_t> sum(n, 0);
  for (const SwitchIndex h : host_switches) {
    const auto distance = distance_from(graph, {h});
    for (std::size_t s = 0; s < n; ++s) {
      farthest[s] = std::max<std::uint32_t>(farthest[s], distance[s]);
      sum[s] += distance[s] * std::uint64_t{graph.hosts_at(h)};
    }
  }
  Centre centre;
  const std::uint32_t least = *std::min_element(farthest.begin(), farthest.end());
  for (std::uint32_t i = 0; i < n; ++i) {
    const SwitchIndex s{i};
    if (farthest[i] != least) continue;
    centre.nearest.push_back(s);
    const auto worse = [&](SwitchIndex other) {
      return std::pair(sum[i], graph.guid(s)) < std::pair(sum[other.raw()], graph.guid(other));
    };
    if (centre.best == no_switch || worse(centre.best)) centre.best = s;
  }
  centre.sum = std::move(sum);
  return centre;
}

/// Nearer to the hosts, as a sum, is higher. In a tree, these are its levels, and switches that hang
/// elsewhere find their place without moving those of the tree.
Ranks by_closeness(const SwitchGraph& graph, const std::vector<std::uint64_t>& sum) {
  std::vector<SwitchIndex> order;
  for (std::uint32_t s = 0; s < graph.size(); ++s) order.push_back(SwitchIndex{s});
  std::sort(order.begin(), order.end(), [&](SwitchIndex x, SwitchIndex y) {
    return std::pair(sum[x.raw()], graph.guid(x)) < std::pair(sum[y.raw()], graph.guid(y));
  });
  std::vector<std::uint16_t> rank(graph.size());
  for (std::size_t i = 0; i < order.size(); ++i)
    rank[order[i].raw()] = static_cast<std::uint16_t>(std::min<std::size_t>(i, unranked));
  return in_levels(graph, Ranks(graph, std::move(rank)));
}

/// No cable joins two switches of one rank.
bool is_layered(const SwitchGraph& graph, const Ranks& ranks) {
  for (std::uint32_t s = 0; s < graph.size(); ++s) {
    for (const Hop& hop : graph.hops(SwitchIndex{s})) {
      if (ranks.rank(hop.peer) == ranks.rank(SwitchIndex{s})) return false;
    }
  }
  return true;
}

bool joins_all(const SwitchGraph& graph, const Ranks& ranks, const std::vector<SwitchIndex>& host_switches) {
  const LegalPaths paths(graph, ranks, nullptr);
  return std::all_of(host_switches.begin(), host_switches.end(), [&](SwitchIndex from) {
    return std::all_of(host_switches.begin(), host_switches.end(),
                       [&](SwitchIndex to) { return paths.distance(from, to) != LegalPaths::far; });
  });
}

}  // namespace

Ranks::Ranks(const SwitchGraph& graph, std::vector<std::uint16_t> rank)
    : rank_{std::move(rank)}, position_(graph.size()), order_(graph.size()) {
  for (std::uint32_t s = 0; s < order_.size(); ++s) order_[s] = SwitchIndex{s};
  std::sort(order_.begin(), order_.end(), [&](SwitchIndex x, SwitchIndex y) {
    return std::pair(rank_[x.raw()], graph.guid(x)) < std::pair(rank_[y.raw()], graph.guid(y));
  });
  for (std::uint32_t i = 0; i < order_.size(); ++i) position_[order_[i].raw()] = i;
}

Ranks in_levels(const SwitchGraph& graph, const Ranks& before) {
  std::vector<std::uint16_t> height(graph.size(), 0);
  std::uint16_t highest = 0;
  const auto order = before.order();
  for (auto it = order.rbegin(); it != order.rend(); ++it) {
    std::uint16_t& own = height[it->raw()];
    for (const Hop& hop : graph.hops(*it)) {
      if (before.above(*it, hop.peer)) own = std::max<std::uint16_t>(own, height[hop.peer.raw()] + 1U);
    }
    highest = std::max(highest, own);
  }
  for (std::uint16_t& each : height) each = static_cast<std::uint16_t>(highest - each);
  return Ranks(graph, std::move(height));
}

bool same_ways_up(const SwitchGraph& graph, const Ranks& x, const Ranks& y) {
  for (std::uint32_t i = 0; i < graph.size(); ++i) {
    const SwitchIndex s{i};
    for (const Hop& hop : graph.hops(s)) {
      if (x.above(s, hop.peer) != y.above(s, hop.peer)) return false;
    }
  }
  return true;
}

Result<Ranks> rank_from_roots(const SwitchGraph& graph, std::span<const NodeGuid> roots) {
  if (roots.empty()) return fail(ErrorCode::Invalid, "the list of roots is empty; name at least one switch");
  std::vector<SwitchIndex> seeds;
  for (const NodeGuid guid : roots) {
    const auto it = std::find(graph.guids().begin(), graph.guids().end(), guid);
    if (it == graph.guids().end()) {
      return fail(ErrorCode::NotFound, fmt::format("root {} is no switch of this fabric", to_string(guid)));
    }
    const SwitchIndex s{static_cast<std::uint32_t>(it - graph.guids().begin())};
    if (std::find(seeds.begin(), seeds.end(), s) != seeds.end()) {
      return fail(ErrorCode::Invalid, fmt::format("root {} is named twice", to_string(guid)));
    }
    seeds.push_back(s);
  }
  return Ranks(graph, distance_from(graph, std::move(seeds)));
}

std::vector<Ranks> rank_candidates(const SwitchGraph& graph) {
  std::vector<SwitchIndex> host_switches = switches_with_hosts(graph, 1);
  if (host_switches.empty()) host_switches = switches_with_hosts(graph, 0);
  if (host_switches.empty()) return {Ranks(graph, {})};
  std::uint32_t most = 0;
  for (const SwitchIndex s : host_switches) most = std::max(most, graph.hosts_at(s));

  std::vector<Ranks> candidates;
  const auto consider = [&](Ranks ranks) {
    const auto known = [&](const Ranks& other) { return same_ways_up(graph, ranks, other); };
    if (std::none_of(candidates.begin(), candidates.end(), known)) candidates.push_back(std::move(ranks));
  };
  // A manager's node beside a spine does not make the spine a leaf.
  consider(Ranks(graph, upside_down(distance_from(graph, switches_with_hosts(graph, (most + 1) / 2)))));
  if (is_regular_tree(graph, candidates[0])) return candidates;

  const Centre centre = find_centre(graph, host_switches);
  consider(by_closeness(graph, centre.sum));
  // A tree by its leaves and by its hosts: nothing can be gained by another order.
  if (candidates.size() == 1 && is_layered(graph, candidates[0]) &&
      joins_all(graph, candidates[0], host_switches))
    return candidates;
  consider(Ranks(graph, upside_down(distance_from(graph, host_switches))));
  consider(Ranks(graph, distance_from(graph, centre.nearest)));
  consider(Ranks(graph, distance_from(graph, {centre.best})));
  return candidates;
}

}  // namespace heddle::routing
