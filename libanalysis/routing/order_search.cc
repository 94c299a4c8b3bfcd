#include "routing/order_search.h"

#include <algorithm>
#include <memory>
#include <tuple>
#include <utility>
#include <vector>

#include "base/random.h"
#include "routing/balance.h"
#include "routing/detour.h"
#include "routing/home.h"
#include "routing/hop_map.h"
#include "routing/mends.h"
#include "routing/quality.h"

namespace heddle::routing {
namespace {

/// Relaxations of hops for one fabric: two to three seconds.
constexpr double search_limit = 2e9;
constexpr double passes_of_a_trial = 3;
constexpr double most_moves_tried = 80;
/// Of relieving full links, in a trial: more on small fabrics.
constexpr unsigned least_trial_rounds = 2;
constexpr unsigned most_trial_rounds = 8;
/// Moves that change no way up are not tried; so many in a row mean that there are no others.
constexpr unsigned most_idle_moves = 100;
constexpr std::size_t fullest_links = 12;
/// A load that is less by this factor is less.
constexpr double less_by = 1.002;

std::size_t pairs_missing(const SwitchGraph& graph, const LegalPaths& full) {
  std::size_t missing = 0;
  for (std::uint32_t s = 0; s < graph.size(); ++s) {
    if (graph.hosts_at(SwitchIndex{s}) == 0) continue;
    const auto row = full.distance(SwitchIndex{s});
    for (std::uint32_t d = 0; d < graph.size(); ++d)
      missing += row[d] == LegalPaths::far && graph.hosts_at(SwitchIndex{d}) != 0 ? 1 : 0;
  }
  return missing;
}

class OrderSearch {
 public:
  OrderSearch(const SwitchGraph& graph, const Destinations& destinations, const LinkSet& all, double enough,
              unsigned rounds)
      : graph_{graph},
        destinations_{destinations},
        all_{all},
        enough_{enough},
        rounds_{rounds},
        map_{graph} {}

  std::optional<Ranks> run(const Ranks& start, unsigned trials) {
    ranks_ = std::make_unique<Ranks>(start);
    best_ = try_out(start, no_limit);
    bool moved = false;
    unsigned idle = 0;
    while (trials > 0 && idle < most_idle_moves && (best_->left != 0 || best_->largest > enough_)) {
      const Ranks next = moved_by_one();
      if (same_ways_up(graph_, next, *ranks_)) {
        ++idle;
        continue;
      }
      idle = 0;
      --trials;
      auto trial = try_out(next, best_->missing + few_missing);
      if (!trial || !better(*trial, *best_)) continue;
      best_ = std::move(trial);
      ranks_ = std::make_unique<Ranks>(next);
      moved = true;
    }
    if (!moved) return std::nullopt;
    return std::move(*ranks_);
  }

 private:
  static constexpr std::size_t no_limit = static_cast<std::size_t>(-1);
  /// Mending takes time; an order that leaves so many pairs more without a path is none to go to.
  static constexpr std::size_t few_missing = 100;

  struct Trial {
    std::size_t missing = 0;  ///< pairs of host switches that need a mend
    std::size_t left = 0;     ///< and get none
    double largest = 0;
    std::vector<SwitchIndex> culprits;  ///< at pairs without a path, or at the fullest links
  };

  std::optional<Trial> try_out(const Ranks& ranks, std::size_t most_missing) const {
    Trial trial;
    const LegalPaths full(graph_, ranks, nullptr);
    trial.missing = pairs_missing(graph_, full);
    if (trial.missing > most_missing) return std::nullopt;
    const Mends mends(graph_, ranks, full);
    for (const auto& [from, to] : mends.left()) {
      if (graph_.hosts_at(from) == 0 || graph_.hosts_at(to) == 0) continue;
      ++trial.left;
      trial.culprits.push_back(from);
      trial.culprits.push_back(to);
    }
    if (best_ && trial.left > best_->left) return std::nullopt;
    const FullTopology topology{graph_, destinations_, ranks, full, mends};
    ForwardingTables home = home_by_chains(graph_, destinations_, ranks, full);
    trial.largest = rounds_ < most_trial_rounds ? relieve(topology, enough_, rounds_, home)
                                                : balance(topology, rounds_, home);
    if (best_ && !better(trial, *best_)) return std::nullopt;
    mend_home(topology, all_, home);
    const Loads loads = all_to_all(graph_, home);
    trial.largest = loads.largest();  // mends are as lumpy as whole LIDs are
    if (trial.culprits.empty()) trial.culprits = at_fullest(loads);
    return trial;
  }

  static bool better(const Trial& x, const Trial& y) {
    return x.left != y.left ? x.left < y.left : x.largest * less_by < y.largest;
  }

  [[nodiscard]] std::vector<SwitchIndex> at_fullest(const Loads& loads) const {
    using Entry = std::tuple<double, NodeGuid, std::uint32_t>;
    std::vector<Entry> links;
    for (std::uint32_t h = 0; h < loads.hop.size(); ++h)
      links.emplace_back(-loads.hop[h], graph_.guid(SwitchIndex{map_.from(h)}), h);
    const std::size_t n = std::min(fullest_links, links.size());
    std::partial_sort(links.begin(), links.begin() + static_cast<std::ptrdiff_t>(n), links.end());
    std::vector<SwitchIndex> result;
    for (std::size_t i = 0; i < n; ++i) {
      result.push_back(SwitchIndex{map_.from(std::get<2>(links[i]))});
      result.push_back(SwitchIndex{map_.peer(std::get<2>(links[i]))});
    }
    return result;
  }

  SwitchIndex neighbour(SwitchIndex s) {
    const auto hops = graph_.hops(s);
    return hops.empty() ? s : hops[random_.below(hops.size())].peer;
  }

  /// A switch where something is wrong, or one beside it, at the top, at the bottom, or right above or below
  /// one of its neighbours.
  Ranks moved_by_one() {
    const auto& culprits = best_->culprits;  // the worst are the first
    SwitchIndex moving = culprits[std::min(random_.below(culprits.size()), random_.below(culprits.size()))];
    if (random_.below(3) == 0) moving = neighbour(moving);
    const auto before = ranks_->order();
    std::vector<SwitchIndex> order(before.begin(), before.end());
    std::erase(order, moving);
    auto to = order.begin();
    switch (random_.below(4)) {
      case 0:
        break;
      case 1:
        to = order.end();
        break;
      default:
        to = std::find(order.begin(), order.end(), neighbour(moving));
        if (to != order.end()) to += static_cast<std::ptrdiff_t>(random_.below(2));
    }
    order.insert(to, moving);
    std::vector<std::uint16_t> rank(order.size());
    for (std::size_t i = 0; i < order.size(); ++i) rank[order[i].raw()] = static_cast<std::uint16_t>(i);
    return in_levels(graph_, Ranks(graph_, std::move(rank)));
  }

  const SwitchGraph& graph_;
  const Destinations& destinations_;
  const LinkSet& all_;
  double enough_;
  unsigned rounds_;
  HopMap map_;
  Random random_{1};
  std::unique_ptr<Ranks> ranks_;
  std::optional<Trial> best_;
};

}  // namespace

bool switches_are_alike(const SwitchGraph& graph) {
  for (std::uint32_t s = 1; s < graph.size(); ++s) {
    const SwitchIndex first{0};
    const SwitchIndex each{s};
    if (graph.hosts_at(each) != graph.hosts_at(first) || graph.hops(each).size() != graph.hops(first).size())
      return false;
  }
  return true;
}

std::optional<Ranks> better_order(const SwitchGraph& graph, const Destinations& destinations,
                                  const LinkSet& all, const Ranks& start, double enough) {
  if (graph.hop_count() == 0 || graph.size() >= 0xffff || switches_are_alike(graph)) return std::nullopt;
  double lids = 0;
  for (const Destination& lid : destinations.all()) lids += lid.kind == TargetKind::Host ? 1 : 0;
  const double pass = std::max(1.0, lids * static_cast<double>(graph.hop_count() + graph.size()));
  const double trials = std::min(most_moves_tried, search_limit / (passes_of_a_trial * pass));
  const double rounds =
      std::clamp<double>(search_limit / (4 * most_moves_tried * pass), least_trial_rounds, most_trial_rounds);
  return OrderSearch(graph, destinations, all, enough, static_cast<unsigned>(rounds))
      .run(start, static_cast<unsigned>(trials));
}

}  // namespace heddle::routing
