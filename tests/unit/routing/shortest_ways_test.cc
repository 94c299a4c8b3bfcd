// What no tables by shortest ways can do better, in any order and however they divide: the dual of the linear
// program that routes all to all over shortest ways so that the fullest link carries least. For any prices of
// links, what all pairs pay at least, over the sum of the prices, is a bound; prices follow the loads.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>
#include <vector>

#include "fabric/generators.h"
#include "fabric/source.h"
#include "routing/minhop.h"
#include "routing/quality.h"

namespace heddle::routing {
namespace {

class ShortestWays {
 public:
  explicit ShortestWays(const SwitchGraph& graph)
      : graph_{graph}, price_(graph.hop_count(), 1), load_(graph.hop_count(), 0) {
    for (std::uint32_t d = 0; d < graph.size(); ++d) {
      if (graph.hosts_at(SwitchIndex{d}) != 0) trees_.push_back(tree(d));
    }
  }

  /// The best bound of so many rounds, in the unit of quality.h.
  double least(unsigned rounds) {
    double best = 0;
    for (unsigned round = 1; round <= rounds; ++round) {
      double paid = 0;
      for (const Tree& each : trees_) paid += send(each);
      best = std::max(best, paid / std::accumulate(price_.begin(), price_.end(), 0.0));
      // The steeper the surer the mean of all rounds is.
      const double fullest = *std::max_element(load_.begin(), load_.end());
      const double steepness = 40 * std::sqrt(round / 60.0) / fullest;
      for (std::size_t h = 0; h < load_.size(); ++h)
        price_[h] = std::exp(steepness * (load_[h] - fullest)) + 1e-12;
    }
    return best;
  }

 private:
  struct Way {
    std::uint32_t hop;
    std::uint32_t peer;
  };
  /// Switches, the nearest to `to` first, with the hops that lead nearer.
  struct Tree {
    std::uint32_t to;
    std::vector<std::pair<std::uint32_t, std::vector<Way>>> switches;
  };

  [[nodiscard]] Tree tree(std::uint32_t to) const {
    constexpr std::uint32_t far = 0xffffffffU;
    std::vector<std::uint32_t> distance(graph_.size(), far);
    std::vector<std::uint32_t> order{to};
    distance[to] = 0;
    for (std::size_t i = 0; i < order.size(); ++i) {
      for (const Hop& hop : graph_.hops(SwitchIndex{order[i]})) {
        if (distance[hop.peer.raw()] != far) continue;
        distance[hop.peer.raw()] = distance[order[i]] + 1;
        order.push_back(hop.peer.raw());
      }
    }
    Tree result{to, {}};
    for (const std::uint32_t s : order) {
      if (s == to) continue;
      auto& ways = result.switches.emplace_back(s, std::vector<Way>{}).second;
      auto h = static_cast<std::uint32_t>(graph_.first_hop(SwitchIndex{s}));
      for (const Hop& hop : graph_.hops(SwitchIndex{s})) {
        if (distance[hop.peer.raw()] + 1 == distance[s]) ways.push_back({h, hop.peer.raw()});
        ++h;
      }
    }
    return result;
  }

  /// All hosts by the cheapest of the shortest ways; what they pay.
  double send(const Tree& tree) {
    const double hosts = graph_.hosts_at(SwitchIndex{tree.to});
    std::vector<double> cost(graph_.size(), 0);
    std::vector<double> flow(graph_.size(), 0);
    std::vector<const Way*> taken;
    double paid = 0;
    for (const auto& [s, ways] : tree.switches) {
      const auto at = [&](const Way& way) { return cost[way.peer] + price_[way.hop]; };
      taken.push_back(&*std::ranges::min_element(ways, {}, at));
      cost[s] = at(*taken.back());
      flow[s] = hosts * graph_.hosts_at(SwitchIndex{s});
      paid += flow[s] * cost[s];
    }
    for (std::size_t i = taken.size(); i-- > 0;) {
      const double amount = flow[tree.switches[i].first];
      load_[taken[i]->hop] += amount;
      flow[taken[i]->peer] += amount;
    }
    return paid;
  }

  const SwitchGraph& graph_;
  std::vector<Tree> trees_;
  std::vector<double> price_;
  std::vector<double> load_;  ///< of all rounds
};

TEST(ShortestWays, AreBoundedByWhatTheirOwnTablesCarry) {
  for (unsigned seed = 1; seed <= 8; ++seed) {
    SCOPED_TRACE(seed);
    const auto fabric =
        assign_lids(*load_fabric(fmt::format("grown:seed={},hosts=60", seed))->fabric).value();
    const SwitchGraph graph = SwitchGraph::make(*fabric).value();
    const ForwardingTables tables = route_minhop(graph, LinkSet::all(*fabric));
    const double least = ShortestWays(graph).least(100);
    EXPECT_GT(least, 0);
    EXPECT_LE(least, all_to_all(graph, tables).largest() * (1 + 1e-9));
  }
}

// The table of docs/routing.md has more than 1.10 of lower_bound() there, which lets whoever sends take
// detours: of 21 cables out of one part six hang on leaves that lie on no shortest way but their own hosts'.
TEST(ShortestWays, CarryMoreThanATenthAboveTheBoundOnSeedFive) {
  const auto fabric = assign_lids(*load_fabric("grown:seed=5,hosts=1000")->fabric).value();
  const SwitchGraph graph = SwitchGraph::make(*fabric).value();
  EXPECT_GT(ShortestWays(graph).least(1500), 1.12 * lower_bound(graph, LinkSet::all(*fabric)));
}

}  // namespace
}  // namespace heddle::routing
