#include "routing/ranks.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

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
  return centre;
}

struct Cost {
  std::uint64_t missing = 0;  ///< pairs of host switches without a path
  std::uint64_t length = 0;   ///< of all paths between hosts
  friend constexpr auto operator<=>(const Cost&, const Cost&) = default;
};

Cost cost_of(const SwitchGraph& graph, const Ranks& ranks, const std::vector<SwitchIndex>& host_switches) {
  LegalPaths paths(graph, ranks, nullptr);
  std::uint64_t missing = 0;
  std::uint64_t length = 0;
  for (const SwitchIndex x : host_switches) {
    const auto row = paths.distance(x);
    for (const SwitchIndex d : host_switches) {
      if (row[d.raw()] == LegalPaths::far) {
        ++missing;
      } else {
        length += std::uint64_t{row[d.raw()]} * graph.hosts_at(x) * graph.hosts_at(d);
      }
    }
  }
  return {missing, length};
}

/// Two host switches that have no common switch above them, and a switch that is a neighbour of both.
struct Bridge {
  SwitchIndex from = no_switch;
  SwitchIndex over = no_switch;
};

Bridge find_bridge(const SwitchGraph& graph, const Ranks& ranks,
                   const std::vector<SwitchIndex>& host_switches) {
  const LegalPaths paths(graph, ranks, nullptr);
  std::vector<std::uint8_t> beside(graph.size());
  for (const SwitchIndex x : host_switches) {
    for (const SwitchIndex d : host_switches) {
      if (paths.distance(x, d) != LegalPaths::far) continue;
      std::fill(beside.begin(), beside.end(), std::uint8_t{0});
      for (const Hop& hop : graph.hops(d)) beside[hop.peer.raw()] = 1;
      Bridge bridge{x, no_switch};
      for (const Hop& hop : graph.hops(x)) {
        const SwitchIndex over = hop.peer;
        if (beside[over.raw()] == 0 || ranks.above(over, x) || !ranks.above(d, over)) continue;
        if (bridge.over == no_switch || graph.hops(over).size() > graph.hops(bridge.over).size())
          bridge.over = over;
      }
      if (bridge.over != no_switch) return bridge;
    }
  }
  return {};
}

/// The same order, but `over` right above `from`.
Ranks raised(const SwitchGraph& graph, const Ranks& ranks, Bridge bridge) {
  std::vector<std::uint16_t> rank(graph.size());
  for (std::uint32_t i = 0; i < rank.size(); ++i) {
    const SwitchIndex s{i};
    const auto of = [&](SwitchIndex t) { return ranks.rank(t); };
    const std::uint16_t middle = of(bridge.from);
    if (s == bridge.over) {
      rank[i] = static_cast<std::uint16_t>(middle + 1);
    } else if (s == bridge.from) {
      rank[i] = static_cast<std::uint16_t>(middle + 2);
    } else {
      rank[i] = static_cast<std::uint16_t>(of(s) > middle && of(s) != 0xffff ? of(s) + 2 : of(s));
    }
  }
  return Ranks(graph, std::move(rank));
}

/// Joins pairs that have no path by letting a lower neighbour of both stand above one of them, as long as
/// this helps.
Ranks repaired(const SwitchGraph& graph, Ranks ranks, const std::vector<SwitchIndex>& host_switches) {
  std::uint64_t missing = cost_of(graph, ranks, host_switches).missing;
  while (missing != 0) {
    const Bridge bridge = find_bridge(graph, ranks, host_switches);
    if (bridge.from == no_switch) break;
    Ranks other = raised(graph, ranks, bridge);
    const std::uint64_t left = cost_of(graph, other, host_switches).missing;
    if (left >= missing) break;
    missing = left;
    ranks = std::move(other);
  }
  return ranks;
}

/// No cable joins two switches of one rank: as in a tree, where nothing can be gained by another order.
bool is_layered(const SwitchGraph& graph, const Ranks& ranks) {
  for (std::uint32_t s = 0; s < graph.size(); ++s) {
    for (const Hop& hop : graph.hops(SwitchIndex{s})) {
      if (ranks.rank(hop.peer) == ranks.rank(SwitchIndex{s})) return false;
    }
  }
  return true;
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
  std::vector<Cost> costs;
  const auto consider = [&](Ranks ranks) {
    ranks = repaired(graph, std::move(ranks), host_switches);
    costs.push_back(cost_of(graph, ranks, host_switches));
    candidates.push_back(std::move(ranks));
  };
  // A manager's node beside a spine does not make the spine a leaf.
  consider(Ranks(graph, upside_down(distance_from(graph, switches_with_hosts(graph, (most + 1) / 2)))));
  if (costs[0].missing == 0 && is_layered(graph, candidates[0])) return candidates;

  consider(Ranks(graph, upside_down(distance_from(graph, host_switches))));
  const Centre centre = find_centre(graph, host_switches);
  consider(Ranks(graph, distance_from(graph, centre.nearest)));
  consider(Ranks(graph, distance_from(graph, {centre.best})));

  const Cost least = *std::min_element(costs.begin(), costs.end());
  std::vector<Ranks> good;
  for (std::size_t i = 0; i < candidates.size(); ++i) {
    const bool as_short = costs[i].length <= least.length + least.length / 100;
    if (costs[i].missing == least.missing && as_short) good.push_back(std::move(candidates[i]));
  }
  return good;
}

}  // namespace heddle::routing
