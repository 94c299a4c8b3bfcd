#include "routing/crowned_orders.h"

#include <algorithm>
#include <utility>

#include "routing/legal_paths.h"
#include "routing/mends.h"

namespace heddle::routing {
namespace {

/// Of the switches between pairs without a path, those between most of them are tried.
constexpr std::size_t most_between = 12;
/// Paths of a whole fabric are made for each: milliseconds. With mends it may be tenths of a second.
constexpr unsigned most_tried = 200;
constexpr unsigned most_tried_with_mends = 24;

/// By switch: to which others. For those with hosts.
using Pairs = std::vector<std::vector<SwitchIndex>>;

std::size_t count(const Pairs& pairs) {
  std::size_t sum = 0;
  for (const auto& to : pairs) sum += to.size();
  return sum;
}

Pairs all_pairs(const SwitchGraph& graph) {
  std::vector<SwitchIndex> with_hosts;
  for (std::uint32_t s = 0; s < graph.size(); ++s) {
    if (graph.hosts_at(SwitchIndex{s}) != 0) with_hosts.push_back(SwitchIndex{s});
  }
  Pairs pairs(graph.size());
  for (const SwitchIndex s : with_hosts) pairs[s.raw()] = with_hosts;
  return pairs;
}

Pairs without_path(const SwitchGraph& graph, const Ranks& ranks) {
  const LegalPaths full(graph, ranks, nullptr);
  Pairs pairs = all_pairs(graph);
  for (std::uint32_t s = 0; s < graph.size(); ++s)
    std::erase_if(pairs[s],
                  [&](SwitchIndex d) { return full.distance(SwitchIndex{s}, d) != LegalPaths::far; });
  return pairs;
}

Pairs without_mend(const SwitchGraph& graph, const Ranks& ranks) {
  const LegalPaths full(graph, ranks, nullptr);
  const Mends mends(graph, ranks, full);
  Pairs pairs(graph.size());
  for (const auto& [from, to] : mends.left()) {
    if (graph.hosts_at(from) != 0 && graph.hosts_at(to) != 0) pairs[from.raw()].push_back(to);
  }
  return pairs;
}

/// By switch: what passes it when the hosts of these pairs send to one another, spread evenly over all
/// shortest ways (Brandes, A faster algorithm for betweenness centrality, 2001).
std::vector<double> passing(const SwitchGraph& graph, const Pairs& pairs) {
  constexpr std::uint32_t unseen = 0xffffffffU;
  std::vector<double> sum(graph.size(), 0);
  for (std::uint32_t s = 0; s < graph.size(); ++s) {
    if (pairs[s].empty()) continue;
    std::vector<std::uint32_t> distance(graph.size(), unseen);
    std::vector<double> ways(graph.size(), 0);
    std::vector<double> flow(graph.size(), 0);
    for (const SwitchIndex d : pairs[s]) flow[d.raw()] = static_cast<double>(graph.hosts_at(d));
    const std::vector<double> ending = flow;
    std::vector<SwitchIndex> seen{SwitchIndex{s}};
    distance[s] = 0;
    ways[s] = 1;
    for (std::size_t i = 0; i < seen.size(); ++i) {
      const std::uint32_t at = seen[i].raw();
      for (const Hop& hop : graph.hops(seen[i])) {
        const std::uint32_t peer = hop.peer.raw();
        if (distance[peer] == unseen) {
          distance[peer] = distance[at] + 1;
          seen.push_back(hop.peer);
        }
        if (distance[peer] == distance[at] + 1) ways[peer] += ways[at];
      }
    }
    for (std::size_t i = seen.size(); i-- > 1;) {
      const std::uint32_t at = seen[i].raw();
      for (const Hop& hop : graph.hops(seen[i])) {
        const std::uint32_t peer = hop.peer.raw();
        if (distance[peer] + 1 == distance[at]) flow[peer] += ways[peer] / ways[at] * flow[at];
      }
      sum[at] += static_cast<double>(graph.hosts_at(SwitchIndex{s})) * (flow[at] - ending[at]);
    }
  }
  return sum;
}

/// Switches by these figures, the largest first.
std::vector<SwitchIndex> by_size(const SwitchGraph& graph, const std::vector<double>& figures) {
  std::vector<SwitchIndex> order;
  for (std::uint32_t s = 0; s < graph.size(); ++s) order.push_back(SwitchIndex{s});
  std::sort(order.begin(), order.end(), [&](SwitchIndex x, SwitchIndex y) {
    const double of_x = figures[x.raw()];
    const double of_y = figures[y.raw()];
    return of_x != of_y ? of_x > of_y : graph.guid(x) < graph.guid(y);
  });
  return order;
}

Ranks in_order(const SwitchGraph& graph, const std::vector<SwitchIndex>& order) {
  std::vector<std::uint16_t> rank(graph.size());
  for (std::size_t i = 0; i < order.size(); ++i) rank[order[i].raw()] = static_cast<std::uint16_t>(i);
  return in_levels(graph, Ranks(graph, std::move(rank)));
}

Ranks by_traffic(const SwitchGraph& graph) {
  std::vector<double> figures = passing(graph, all_pairs(graph));
  for (std::uint32_t s = 0; s < graph.size(); ++s)
    figures[s] /= std::max(1.0, static_cast<double>(graph.hops(SwitchIndex{s}).size()));
  return in_order(graph, by_size(graph, figures));
}

/// Puts one switch on top after the other, as long as that leaves fewer pairs of those that `missing` finds.
/// Returns how many it leaves.
template <class F>
std::size_t crown(const SwitchGraph& graph, Ranks& ranks, unsigned tries, F&& missing) {
  Pairs pairs = missing(graph, ranks);
  std::size_t left = count(pairs);
  bool moved = true;
  while (left != 0 && moved) {
    moved = false;
    const std::vector<double> between = passing(graph, pairs);
    std::vector<SwitchIndex> best = by_size(graph, between);
    best.resize(std::min(best.size(), most_between));
    for (const SwitchIndex top : best) {
      if (between[top.raw()] == 0 || tries-- == 0) return left;
      std::vector<SwitchIndex> order{top};
      std::copy_if(ranks.order().begin(), ranks.order().end(), std::back_inserter(order),
                   [&](SwitchIndex s) { return s != top; });
      Ranks crowned = in_order(graph, order);
      Pairs then = missing(graph, crowned);
      if (count(then) >= left) continue;
      ranks = std::move(crowned);
      pairs = std::move(then);
      left = count(pairs);
      moved = true;
      break;
    }
  }
  return left;
}

}  // namespace

std::vector<Ranks> crowned_orders(const SwitchGraph& graph, std::vector<Ranks> before) {
  before.push_back(by_traffic(graph));
  for (Ranks& ranks : before) (void)crown(graph, ranks, most_tried, without_path);
  return before;
}

bool crown_for_mends(const SwitchGraph& graph, Ranks& ranks) {
  return crown(graph, ranks, most_tried_with_mends, without_mend) == 0;
}

}  // namespace heddle::routing
