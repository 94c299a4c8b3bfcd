#include "routing/balance.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <map>
#include <utility>

#include "routing/detour.h"
#include "routing/hop_map.h"
#include "routing/permutations.h"
#include "routing/quality.h"

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
/// A link is relieved from this share of the limit on, so that LIDs do not go to and fro between full ones.
constexpr double nearly_full = 0.97;
/// By how much a largest load may differ and count as the same.
constexpr double same_load = 1.002;
/// A largest load that is so near to the least possible one is good enough: what else is gained costs more in
/// permutations.
constexpr double enough = 1.08;
/// Likewise, to the least one that was found.
constexpr double nearly_least = 1.02;
constexpr unsigned relief_patience = 3;
constexpr unsigned shifts_compared = 20;

/// Up to where a price follows a change of its load by the first terms of the series: an exponential function
/// for every change would take most of the time. Prices are exact again at the beginning of each round.
constexpr double small_step = 0.1;

class Balancer {
 public:
  Balancer(const FullTopology& full, ForwardingTables& home)
      : graph_{full.graph},
        destinations_{full.destinations},
        ranks_{full.ranks},
        full_{full.paths},
        mends_{full.mends},
        home_{home},
        map_{graph_},
        descends_(graph_.hop_count()),
        load_(graph_.hop_count(), 0),
        price_(graph_.hop_count(), 1),
        comes_in_(graph_.size()),
        flow_(graph_.size()),
        cost_(graph_.size()),
        choice_(graph_.size()),
        expected_(graph_.size()),
        down_(graph_.size()),
        follows_mend_(graph_.size()) {
    for (std::uint32_t h = 0; h < graph_.hop_count(); ++h)
      descends_[h] = ranks_.above(SwitchIndex{map_.from(h)}, SwitchIndex{map_.peer(h)}) ? 1 : 0;
  }

  void add_all() {
    each([&](SwitchIndex at, const Destination& lid, double part) {
      read(at, lid);
      send(part);
    });
  }

  [[nodiscard]] double largest() const { return *std::max_element(load_.begin(), load_.end()); }

  /// All LIDs anew, by what their links carry.
  void improve(double steepness) { pass(steepness / std::max(largest(), 1e-9), 0); }

  /// Only what passes links that carry more than `limit`, or near to it.
  void relieve(double limit) {
    const double scale = last_steepness / std::max(limit, 1e-9);
    pass(scale, std::exp(scale * nearly_full * limit));
  }

 private:
  static constexpr double least_price = 1e-3;

  /// `worth`: how much cheaper a way must be to be taken in place of the present one.
  void pass(double scale, double worth) {
    scale_ = scale;
    worth_ = worth;
    for (std::size_t h = 0; h < load_.size(); ++h) price_[h] = std::exp(load_[h] * scale_) + least_price;
    each([&](SwitchIndex at, const Destination& lid, double part) {
      read(at, lid);
      send(-part);
      choose(at, part);
      send(part);
      write(lid);
    });
  }

  struct Way {
    std::uint32_t hop;
    std::uint32_t peer;
  };
  /// A switch and its shortest ways to the destination.
  struct Visit {
    std::uint32_t sw;
    std::uint32_t first;
    std::uint32_t count;
    bool goes_down;
  };
  /// What goes to the destination over a way of a mend.
  struct Mended {
    std::uint32_t hop;
    double amount;
  };

  template <class F>
  void each(F&& f) {
    for (std::uint32_t s = 0; s < graph_.size(); ++s) {
      if (graph_.hosts_at(SwitchIndex{s}) == 0) continue;
      prepare(SwitchIndex{s});
      for (const Destination& lid : destinations_.at(SwitchIndex{s})) {
        if (lid.kind != TargetKind::Host) continue;
        f(SwitchIndex{s}, lid, 1.0 / graph_.targets()[lid.target].lid_count());
      }
    }
  }

  /// Visits in the order in which costs become known: those that go down from the bottom up, then those that
  /// go up from the top down. Traffic flows the other way round.
  void prepare(SwitchIndex at) {
    const auto left = full_.distance(at);  // a legal path is one in both directions, if not the same one
    for (std::uint32_t s = 0; s < graph_.size(); ++s) down_[s] = full_.down(SwitchIndex{s}, at);
    find_mended(at);
    visits_.clear();
    ways_.clear();
    const auto visit = [&](std::uint32_t s) {
      const bool goes_down = down_[s] != LegalPaths::far;
      const auto first = static_cast<std::uint32_t>(ways_.size());
      const auto hops = graph_.hops(SwitchIndex{s});
      auto h = static_cast<std::uint32_t>(graph_.first_hop(SwitchIndex{s}));
      for (const Hop& hop : hops) {
        const std::uint32_t peer = hop.peer.raw();
        const unsigned there = goes_down ? down_[peer] : left[peer];
        const unsigned here = goes_down ? down_[s] : left[s];
        const bool nearer = follows_mend_[s] != 0 ? full_.shortest(SwitchIndex{s}, hop, at)
                                                  : (descends_[h] != 0) == goes_down && there + 1 == here;
        if (nearer) ways_.push_back({h, peer});
        ++h;
      }
      visits_.push_back({s, first, static_cast<std::uint32_t>(ways_.size()) - first, goes_down});
    };
    const auto order = ranks_.order();
    for (auto it = order.rbegin(); it != order.rend(); ++it) {
      if (*it != at && down_[it->raw()] != LegalPaths::far) visit(it->raw());
    }
    for (const SwitchIndex s : order) {
      if (down_[s.raw()] == LegalPaths::far && left[s.raw()] != LegalPaths::far) visit(s.raw());
    }
    collect(at);
    // What would pass each switch if all split evenly over their choices.
    expected_ = comes_in_;
    for (auto it = visits_.rbegin(); it != visits_.rend(); ++it) {
      const double share = expected_[it->sw] / it->count;
      if (share == 0) continue;
      for (const Way& way : ways(*it)) expected_[way.peer] += share;
    }
  }

  /// Where mends lead, packets go on as the mends count on: over no way that is the shortest one backwards
  /// only (a switch goes down as soon as it can).
  void find_mended(SwitchIndex at) {
    follows_mend_.assign(graph_.size(), 0);
    for (const Mends::Mend& mend : mends_.to(at)) {
      for (const Mends::Way& way : mends_.ways(mend)) follows_mend_[way.peer.raw()] = 1;
    }
  }

  /// What hosts and mended switches bring to each switch.
  void collect(SwitchIndex at) {
    for (std::uint32_t s = 0; s < graph_.size(); ++s) comes_in_[s] = graph_.hosts_at(SwitchIndex{s});
    mended_.clear();
    const auto mends = mends_.to(at);
    for (auto it = mends.rbegin(); it != mends.rend(); ++it) {
      const double amount = std::exchange(comes_in_[it->at.raw()], 0);
      if (amount == 0) continue;
      for (const Mends::Way& way : mends_.ways(*it)) {
        mended_.push_back({map_.hop(it->at.raw(), way.out.raw()), amount / it->ways});
        comes_in_[way.peer.raw()] += amount / it->ways;
      }
    }
  }

  [[nodiscard]] std::span<const Way> ways(const Visit& visit) const {
    return std::span(ways_).subspan(visit.first, visit.count);
  }

  void read(SwitchIndex at, const Destination& lid) {
    choice_[at.raw()] = HopMap::none;
    for (const Visit& visit : visits_) {
      const std::uint8_t port = home_.port(SwitchIndex{visit.sw}, lid.lid).raw();
      choice_[visit.sw] = port == no_path.raw() ? HopMap::none : map_.hop(visit.sw, port);
    }
  }

  void write(const Destination& lid) {
    for (const Visit& visit : visits_) {
      const SwitchIndex from{visit.sw};
      home_.set(from, lid.lid, graph_.hops(from)[choice_[visit.sw] - graph_.first_hop(from)].out);
    }
  }

  void add(std::uint32_t hop, double amount) {
    load_[hop] += amount;
    const double step = amount * scale_;
    if (step > -small_step && step < small_step) {
      price_[hop] *= 1 + step * (1 + step / 2);
    } else {
      price_[hop] = std::exp(load_[hop] * scale_) + least_price;
    }
  }

  /// Lets every host's share flow along choice_: from the bottom up to where paths turn, then down.
  void send(double part) {
    for (const Mended& mended : mended_) add(mended.hop, part * mended.amount);
    for (const Visit& visit : visits_) flow_[visit.sw] = part * comes_in_[visit.sw];
    for (auto it = visits_.rbegin(); it != visits_.rend(); ++it) {
      const std::uint32_t hop = choice_[it->sw];
      if (hop == HopMap::none || flow_[it->sw] == 0) continue;
      add(hop, flow_[it->sw]);
      flow_[map_.peer(hop)] += flow_[it->sw];
    }
  }

  void choose(SwitchIndex at, double part) {
    cost_[at.raw()] = 0;
    undo_.clear();
    for (const Visit& visit : visits_) {
      double least = std::numeric_limits<double>::infinity();
      double present = least;
      const std::uint32_t before = choice_[visit.sw];
      for (const Way& way : ways(visit)) {
        const double cost = cost_[way.peer] + price_[way.hop];
        if (way.hop == before) present = cost;
        if (cost >= least) continue;
        least = cost;
        choice_[visit.sw] = way.hop;
      }
      if (worth_ > 0 && present < least + worth_) {
        least = present;
        choice_[visit.sw] = before;
      }
      cost_[visit.sw] = least;
      if (!visit.goes_down) expect(visit.sw, part);
    }
    for (auto it = undo_.rbegin(); it != undo_.rend(); ++it) {
      load_[it->hop] = it->load;
      price_[it->hop] = it->price;
    }
  }

  /// Those who choose later see what this switch is going to send along its path.
  void expect(std::uint32_t s, double part) {
    const double amount = part * expected_[s];
    if (amount == 0) return;
    path_.clear();
    for (std::uint32_t x = s; choice_[x] != HopMap::none; x = map_.peer(choice_[x])) {
      undo_.push_back({choice_[x], load_[choice_[x]], price_[choice_[x]]});
      add(choice_[x], amount);
      path_.push_back(x);
    }
    for (auto it = path_.rbegin(); it != path_.rend(); ++it) {
      cost_[*it] = cost_[map_.peer(choice_[*it])] + price_[choice_[*it]];
    }
  }

  struct Undo {
    std::uint32_t hop;
    double load;
    double price;
  };

  const SwitchGraph& graph_;
  const Destinations& destinations_;
  const Ranks& ranks_;
  const LegalPaths& full_;
  const Mends& mends_;
  ForwardingTables& home_;
  HopMap map_;
  std::vector<std::uint8_t> descends_;  ///< by hop
  std::vector<double> load_;
  std::vector<double> price_;
  double scale_ = 0;
  double worth_ = 0;
  std::vector<Visit> visits_;  ///< for one destination
  std::vector<Way> ways_;
  std::vector<Mended> mended_;
  std::vector<double> comes_in_;
  std::vector<double> flow_;
  std::vector<double> cost_;
  std::vector<std::uint32_t> choice_;
  std::vector<double> expected_;  ///< of what hosts send to one of the destination's LIDs
  std::vector<LegalPaths::Distance> down_;
  std::vector<std::uint8_t> follows_mend_;  ///< by switch: a mended one may send to it, for the destination
  std::vector<std::uint32_t> path_;
  std::vector<Undo> undo_;
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

double relieve(const FullTopology& full, double limit, unsigned rounds, ForwardingTables& home) {
  Balancer balancer(full, home);
  balancer.add_all();
  ForwardingTables best = home;
  double least = balancer.largest();
  unsigned since = 0;
  for (unsigned round = 0; round < rounds && since < relief_patience && least > limit * same_load; ++round) {
    balancer.relieve(limit);
    ++since;
    if (balancer.largest() >= least) continue;
    least = balancer.largest();
    best = home;
    since = 0;
  }
  home = std::move(best);
  return least;
}

double balance(const FullTopology& full, unsigned rounds, ForwardingTables& home) {
  if (full.graph.hop_count() == 0) return 0;
  const double bound = whole_lid_bound(full.graph);
  // What chains have beyond sums, that all send to a LID over one switch and that LIDs which follow one
  // another do not meet, is kept wherever no link is too full.
  const ForwardingTables chains = home;
  double from_chains = relieve(full, bound, rounds, home);
  if (from_chains <= enough * bound || rounds == 0) return from_chains;

  ForwardingTables best = chains;
  Balancer balancer(full, best);
  balancer.add_all();
  ForwardingTables tables = best;
  double least = balancer.largest();
  unsigned since = 0;
  for (unsigned round = 0; round < rounds && since < patience; ++round, ++since) {
    balancer.improve(first_steepness + (last_steepness - first_steepness) * round / rounds);
    if (balancer.largest() >= least) continue;
    least = balancer.largest();
    tables = best;
    since = 0;
  }
  if (from_chains <= nearly_least * least) return from_chains;
  ForwardingTables relieved = chains;
  from_chains = relieve(full, least, rounds, relieved);
  const bool keeps = from_chains <= nearly_least * least;
  home = std::move(keeps ? relieved : tables);
  return keeps ? from_chains : least;
}

bool is_near_bound(const SwitchGraph& graph, double largest) {
  return largest <= enough * whole_lid_bound(graph);
}

void spare_chains(const FullTopology& full, const LinkSet& all, unsigned rounds, ForwardingTables chains,
                  ForwardingTables& home) {
  const double largest = all_to_all(full.graph, home).largest();
  relieve(full, largest, rounds, chains);
  mend_home(full, all, chains);
  if (all_to_all(full.graph, chains).largest() > same_load * largest) return;
  const auto shift = [&](const ForwardingTables& tables) {
    return shift_bandwidth(full.graph, tables, shifts_compared).mean;
  };
  if (shift(chains) > shift(home)) home = std::move(chains);
}

}  // namespace heddle::routing
