#include "routing/balance.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <map>

#include "routing/hop_map.h"

namespace heddle::routing {
namespace {

/// Relaxations of hops for one fabric: about a second.
constexpr double work_limit = 1.5e8;
constexpr double most_rounds = 40;
/// Rounds without a smaller largest load after which none is expected.
constexpr unsigned patience = 6;
/// The price of the fullest link is e to this; small at first, that the search may wander, then large.
constexpr double first_steepness = 10;
constexpr double last_steepness = 60;

class Balancer {
 public:
  Balancer(const SwitchGraph& graph, const Ranks& ranks, const LegalPaths& full, ForwardingTables& home)
      : graph_{graph},
        ranks_{ranks},
        full_{full},
        home_{home},
        map_{graph},
        load_(graph.hop_count(), 0),
        price_(graph.hop_count(), 1),
        flow_(graph.size()),
        cost_(graph.size()),
        choice_(graph.size()),
        expected_(graph.size()) {}

  void add_all(const Destinations& destinations) {
    each(destinations, [&](SwitchIndex at, const Destination& lid, double part) {
      read(at, lid);
      send(at, part);
    });
  }

  [[nodiscard]] double largest() const { return *std::max_element(load_.begin(), load_.end()); }

  void improve(const Destinations& destinations, double steepness) {
    scale_ = steepness / std::max(largest(), 1e-9);
    for (std::size_t h = 0; h < load_.size(); ++h) reprice(h);
    each(destinations, [&](SwitchIndex at, const Destination& lid, double part) {
      read(at, lid);
      send(at, -part);
      choose(at, part);
      send(at, part);
      write(at, lid);
    });
  }

 private:
  template <class F>
  void each(const Destinations& destinations, F&& f) {
    for (std::uint32_t s = 0; s < graph_.size(); ++s) {
      for (const Destination& lid : destinations.at(SwitchIndex{s})) {
        if (lid.kind != TargetKind::Host) continue;
        f(SwitchIndex{s}, lid, 1.0 / graph_.targets()[lid.target].lid_count());
      }
    }
  }

  void reprice(std::size_t hop) { price_[hop] = std::exp(load_[hop] * scale_) + 1e-3; }

  void read(SwitchIndex at, const Destination& lid) {
    for (std::uint32_t s = 0; s < graph_.size(); ++s) {
      const std::uint8_t port = home_.port(SwitchIndex{s}, lid.lid).raw();
      choice_[s] = s == at.raw() || port == no_path.raw() ? HopMap::none : map_.hop(s, port);
    }
  }

  void write(SwitchIndex at, const Destination& lid) {
    for (std::uint32_t s = 0; s < graph_.size(); ++s) {
      if (s == at.raw() || choice_[s] == HopMap::none) continue;
      const SwitchIndex from{s};
      home_.set(from, lid.lid, graph_.hops(from)[choice_[s] - graph_.first_hop(from)].out);
    }
  }

  /// Lets every host's share flow along choice_: from the bottom up to where paths turn, then down.
  void send(SwitchIndex at, double part) {
    for (std::uint32_t s = 0; s < graph_.size(); ++s) flow_[s] = part * graph_.hosts_at(SwitchIndex{s});
    const auto pass = [&](SwitchIndex s) {
      const std::uint32_t hop = choice_[s.raw()];
      if (hop == HopMap::none || flow_[s.raw()] == 0) return;
      load_[hop] += flow_[s.raw()];
      reprice(hop);
      flow_[map_.peer(hop)] += flow_[s.raw()];
    };
    const auto order = ranks_.order();
    for (auto it = order.rbegin(); it != order.rend(); ++it) {
      if (!full_.goes_down(*it, at)) pass(*it);
    }
    for (const SwitchIndex s : order) {
      if (full_.goes_down(s, at)) pass(s);
    }
  }

  /// What would pass each switch if all split evenly over their choices.
  void estimate(SwitchIndex at, double part) {
    for (std::uint32_t s = 0; s < graph_.size(); ++s) expected_[s] = part * graph_.hosts_at(SwitchIndex{s});
    const auto split = [&](SwitchIndex s) {
      if (expected_[s.raw()] == 0 || s == at) return;
      candidates(s, at);
      const double share = expected_[s.raw()] / static_cast<double>(candidates_.size());
      for (const std::uint32_t hop : candidates_) expected_[map_.peer(hop)] += share;
    };
    const auto order = ranks_.order();
    for (auto it = order.rbegin(); it != order.rend(); ++it) {
      if (!full_.goes_down(*it, at)) split(*it);
    }
    for (const SwitchIndex s : order) {
      if (full_.goes_down(s, at)) split(s);
    }
  }

  void candidates(SwitchIndex s, SwitchIndex at) {
    candidates_.clear();
    const auto hops = graph_.hops(s);
    for (std::size_t h = 0; h < hops.size(); ++h) {
      if (full_.shortest(s, hops[h], at))
        candidates_.push_back(static_cast<std::uint32_t>(graph_.first_hop(s) + h));
    }
  }

  void choose(SwitchIndex at, double part) {
    estimate(at, part);
    const auto order = ranks_.order();
    cost_[at.raw()] = 0;
    undo_.clear();
    for (auto it = order.rbegin(); it != order.rend(); ++it) {
      if (*it != at && full_.goes_down(*it, at)) take_cheapest(*it, at);
    }
    for (const SwitchIndex s : order) {
      if (!full_.goes_down(s, at) && full_.distance(s, at) != LegalPaths::far) {
        take_cheapest(s, at);
        expect(s);
      }
    }
    for (const auto& [hop, amount] : undo_) {
      load_[hop] -= amount;
      reprice(hop);
    }
  }

  void take_cheapest(SwitchIndex s, SwitchIndex at) {
    candidates(s, at);
    double least = std::numeric_limits<double>::infinity();
    for (const std::uint32_t hop : candidates_) {
      const double cost = cost_[map_.peer(hop)] + price_[hop];
      if (cost >= least) continue;
      least = cost;
      choice_[s.raw()] = hop;
    }
    cost_[s.raw()] = least;
  }

  /// Those who choose later see what this switch is going to send along its path.
  void expect(SwitchIndex s) {
    const double amount = expected_[s.raw()];
    if (amount == 0) return;
    path_.clear();
    for (std::uint32_t x = s.raw(); choice_[x] != HopMap::none; x = map_.peer(choice_[x])) {
      load_[choice_[x]] += amount;
      reprice(choice_[x]);
      undo_.emplace_back(choice_[x], amount);
      path_.push_back(x);
    }
    for (auto it = path_.rbegin(); it != path_.rend(); ++it) {
      cost_[*it] = cost_[map_.peer(choice_[*it])] + price_[choice_[*it]];
    }
  }

  const SwitchGraph& graph_;
  const Ranks& ranks_;
  const LegalPaths& full_;
  ForwardingTables& home_;
  HopMap map_;
  std::vector<double> load_;
  std::vector<double> price_;
  double scale_ = 0;
  std::vector<double> flow_;
  std::vector<double> cost_;
  std::vector<std::uint32_t> choice_;
  std::vector<double> expected_;
  std::vector<std::uint32_t> candidates_;
  std::vector<std::uint32_t> path_;
  std::vector<std::pair<std::uint32_t, double>> undo_;
};

}  // namespace

bool is_regular_tree(const SwitchGraph& graph, const Ranks& ranks) {
  std::map<std::uint16_t, std::array<std::uint32_t, 3>> shape;  // hosts, links up, links down
  for (std::uint32_t i = 0; i < graph.size(); ++i) {
    const SwitchIndex s{i};
    std::array<std::uint32_t, 3> own{graph.hosts_at(s), 0, 0};
    for (const Hop& hop : graph.hops(s)) {
      if (ranks.rank(hop.peer) == ranks.rank(s)) return false;
      ++own[ranks.above(hop.peer, s) ? 1 : 2];
    }
    if (shape.emplace(ranks.rank(s), own).first->second != own) return false;
  }
  return true;
}

unsigned balance_rounds(const SwitchGraph& graph, const Destinations& destinations) {
  double lids = 0;
  for (const Destination& lid : destinations.all()) lids += lid.kind == TargetKind::Host ? 1 : 0;
  const double work = lids * static_cast<double>(graph.hop_count() + graph.size());
  return static_cast<unsigned>(std::min(most_rounds, work_limit / std::max(work, 1.0)));
}

double balance(const SwitchGraph& graph, const Destinations& destinations, const Ranks& ranks,
               const LegalPaths& full, unsigned rounds, ForwardingTables& home) {
  if (graph.hop_count() == 0) return 0;
  Balancer balancer(graph, ranks, full, home);
  balancer.add_all(destinations);
  ForwardingTables best = home;
  double least = balancer.largest();
  unsigned since = 0;
  for (unsigned round = 0; round < rounds && since < patience; ++round, ++since) {
    balancer.improve(destinations, first_steepness + (last_steepness - first_steepness) * round / rounds);
    if (balancer.largest() < least) {
      least = balancer.largest();
      best = home;
      since = 0;
    }
  }
  home = std::move(best);
  return least;
}

}  // namespace heddle::routing
