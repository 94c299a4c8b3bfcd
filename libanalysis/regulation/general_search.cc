#include "regulation/general_search.h"

#include <algorithm>
#include <cmath>

#include "regulation/trunk_settling.h"
#include "routing/balance.h"

namespace heddle::regulation {

using routing::Hop;
using routing::LegalPaths;
using routing::LinkSet;
using routing::SwitchIndex;

GeneralSearch::GeneralSearch(const SelectionProblem& problem, const SelectOptions& options)
    : problem_{problem},
      options_{options},
      network_{*problem.network},
      evaluation_{problem, options},
      paths_{network_.graph(), network_.ranks(), problem.available},
      by_levels_{routing::is_regular_tree(network_.graph(), network_.ranks())} {
  const Fabric& fabric = network_.fabric();
  for (std::uint32_t s = 0; s < network_.graph().size(); ++s)
    ranks_.push_back(network_.ranks().rank(SwitchIndex{s}));
  for (std::uint32_t i = 0; i < fabric.links().size(); ++i) {
    const LinkIndex link{i};
    watts_.push_back(problem.power->link(fabric, link, power::mode_of(fabric.link(link))).value());
  }
  // In a tree, the ways up that lead to the same top switches are the same everywhere.
  const auto& graph = network_.graph();
  preference_.assign(graph.size(), 0xffffffffU);
  for (const SwitchIndex s : network_.ranks().order()) {
    std::uint32_t& own = preference_[s.raw()];
    own = std::min(own, network_.ranks().position(s));
    for (const Hop& hop : graph.hops(s)) {
      if (network_.ranks().above(s, hop.peer) && problem.available->contains(hop.link))
        preference_[hop.peer.raw()] = std::min(preference_[hop.peer.raw()], own);
    }
  }
}

double GeneralSearch::watts(const LinkSet& active) const {
  double sum = 0;
  for (const Trunk& trunk : network_.trunks()) {
    for (const LinkIndex link : trunk.links) {
      if (active.contains(link)) sum += watts(link);
    }
  }
  return sum;
}

std::optional<Found> GeneralSearch::run() {
  auto loads = evaluation_.loads(*problem_.available);
  if (!loads) return std::nullopt;
  evaluation_.allow(fullest_of_trunk(network_, *loads));
  const Found everything{*problem_.available, std::move(*loads)};
  Found best = everything;
  if (auto found = thinned(everything)) best = std::move(*found);
  if (auto found = grown(); found && watts(found->active) < watts(best.active)) best = std::move(*found);
  if (evaluation_.model() == Evaluation::Model::Tables) {
    thin_out(best);
  } else {
    settle(best);
  }
  return best;
}

/// Every trunk keeps what its load needs; then one more wherever that was too few.
std::optional<Found> GeneralSearch::thinned(const Found& everything) {
  LinkSet active = everything.active;
  for (const Trunk& trunk : network_.trunks()) {
    double up = 0;
    double down = 0;
    double limit = 0;
    std::vector<LinkIndex> spare;
    std::size_t kept = 0;
    for (const LinkIndex link : trunk.links) {
      if (!active.contains(link)) continue;
      up += everything.loads[network_.up_hop(link)];
      down += everything.loads[network_.down_hop(link)];
      if (regulated(link)) {
        spare.push_back(link);
      } else {
        ++kept;
        limit += evaluation_.limit(network_.up_hop(link));
      }
    }
    // Those that stay are the first.
    std::size_t taken = 0;
    while (taken < spare.size() && (kept + taken == 0 || limit * (1 + 1e-9) < std::max(up, down)))
      limit += evaluation_.limit(network_.up_hop(spare[taken++]));
    for (; taken < spare.size(); ++taken) active.erase(spare[taken]);
  }
  if (active == everything.active) return std::nullopt;
  if (evaluation_.model() == Evaluation::Model::Tables) return settled(everything, std::move(active));
  for (unsigned round = 0; round < 24; ++round) {
    auto loads = evaluation_.loads(active);
    if (!loads) return std::nullopt;
    if (evaluation_.fits(*loads)) return Found{std::move(active), std::move(*loads)};
    if (!relieve(active, *loads)) return std::nullopt;
  }
  return std::nullopt;
}

/// As the trunk rule does it, from everything.
std::optional<Found> GeneralSearch::settled(const Found& everything, LinkSet active) {
  SelectionProblem from_all = problem_;
  from_all.current = &everything.active;
  TrunkChoice choice{std::move(active), {}};
  LinkSet::for_each_difference(everything.active, choice.active, [&](LinkIndex link) {
    choice.decisions.push_back({link, Turn::Off, power::off_mode, {}});
  });
  std::vector<double> loads = settle_trunks(from_all, evaluation_, choice);
  if (!evaluation_.fits(loads)) return std::nullopt;
  return Found{std::move(choice.active), std::move(loads)};
}

/// Removes links one by one, those with the least load first, as long as that is allowed.
void GeneralSearch::thin_out(Found& found) {
  std::vector<std::pair<double, LinkIndex>> candidates;
  for (const Trunk& trunk : network_.trunks()) {
    for (const LinkIndex link : trunk.links) {
      if (!found.active.contains(link) || !regulated(link)) continue;
      candidates.emplace_back(
          std::max(found.loads[network_.up_hop(link)], found.loads[network_.down_hop(link)]) / watts(link),
          link);
    }
  }
  std::sort(candidates.begin(), candidates.end());
  for (const auto& [load, link] : candidates) {
    if (evaluation_.spent() >= options_.effort) return;
    LinkSet fewer = found.active;
    fewer.erase(link);
    auto loads = evaluation_.loads(fewer);
    if (loads && evaluation_.fits(*loads)) found = {std::move(fewer), std::move(*loads)};
  }
}

/// After even spreading: the tables' own loads, with more links where they are not as even.
void GeneralSearch::settle(Found& found) {
  for (unsigned round = 0; round < 5; ++round) {
    found.loads = evaluation_.table_loads(found.active);
    if (evaluation_.bears(found.loads)) return;
    if (!widen(found.active, found.loads)) break;
    // What is new at one rank asks for more at the next.
    for (unsigned growth = 0; growth < 12; ++growth) {
      const auto spread = evaluation_.loads(found.active);
      if (!spread || evaluation_.fits(*spread) || !relieve(found.active, *spread)) break;
    }
  }
  // Not to be had: everything, as far as that carries it.
  found.active = *problem_.available;
  found.loads = evaluation_.table_loads(found.active);
  evaluation_.allow(found.loads);
}

/// At the rank of the most crowded link: as many more ways up for every switch that uses some as the worst is
/// above its limit, so that what is on stays alike everywhere.
bool GeneralSearch::widen(LinkSet& active, const std::vector<double>& loads) const {
  std::vector<double> worst(1U + *std::max_element(ranks_.begin(), ranks_.end()), 1);
  std::vector<std::size_t> on(network_.graph().size(), 0);
  for (const Trunk& trunk : network_.trunks()) {
    for (const LinkIndex link : trunk.links) {
      if (!active.contains(link)) continue;
      ++on[trunk.lower.raw()];
      for (const std::uint32_t hop : {network_.up_hop(link), network_.down_hop(link)}) {
        double& most = worst[ranks_[trunk.lower.raw()]];
        if (!evaluation_.fits(hop, loads[hop])) most = std::max(most, loads[hop] / evaluation_.limit(hop));
      }
    }
  }
  const auto rank = static_cast<std::size_t>(std::max_element(worst.begin(), worst.end()) - worst.begin());
  if (worst[rank] <= 1) return false;
  // Where that rank has no more to give, the ranks below spread the load over more of its switches.
  for (std::size_t below = rank; below < worst.size(); ++below) {
    if (widen_rank(active, loads, static_cast<std::uint16_t>(below),
                   below == rank ? std::min(worst[rank], 2.0) : 1.2, on))
      return true;
  }
  return false;
}

bool GeneralSearch::widen_rank(LinkSet& active, const std::vector<double>& loads, std::uint16_t rank,
                               double by, std::vector<std::size_t> on) const {
  // The usual number: the switch of a manager has more.
  std::vector<std::size_t> numbers;
  for (std::uint32_t i = 0; i < on.size(); ++i) {
    if (ranks_[i] == rank && carries(SwitchIndex{i}, active, loads)) numbers.push_back(on[i]);
  }
  if (numbers.empty()) return false;
  std::nth_element(numbers.begin(), numbers.begin() + static_cast<std::ptrdiff_t>(numbers.size() / 2),
                   numbers.end());
  const std::size_t usual = numbers[numbers.size() / 2];
  const auto wanted = static_cast<std::size_t>(std::ceil(static_cast<double>(usual) * by));
  bool added = false;
  for (std::uint32_t i = 0; i < on.size(); ++i) {
    const SwitchIndex s{i};
    if (ranks_[i] != rank || !carries(s, active, loads)) continue;
    for (; on[i] < wanted && add_way_up(active, s); ++on[i]) added = true;
  }
  return added;
}

/// Host traffic goes up from the switch, or comes down to it.
bool GeneralSearch::carries(SwitchIndex s, const LinkSet& active, const std::vector<double>& loads) const {
  for (const Hop& hop : network_.graph().hops(s)) {
    if (!network_.ranks().above(hop.peer, s) || !active.contains(hop.link)) continue;
    if (loads[network_.up_hop(hop.link)] > 0 || loads[network_.down_hop(hop.link)] > 0) return true;
  }
  return false;
}

bool GeneralSearch::add_way_up(LinkSet& active, SwitchIndex s) const {
  const Hop* best = nullptr;
  const auto order = [&](const Hop& each) {
    return std::pair{preference_[each.peer.raw()], network_.ranks().position(each.peer)};
  };
  for (const Hop& hop : network_.graph().hops(s)) {
    if (!network_.ranks().above(hop.peer, s) || active.contains(hop.link) ||
        !problem_.available->contains(hop.link))
      continue;
    if (best == nullptr || order(hop) < order(*best)) best = &hop;
  }
  if (best == nullptr) return false;
  active.insert(best->link);
  return true;
}

std::optional<Found> GeneralSearch::grown() {
  LinkSet active = skeleton();
  for (unsigned round = 0; round < 60; ++round) {
    auto loads = evaluation_.loads(active);
    if (!loads) {
      // No anchor reaches all: pair by pair.
      const LegalPaths now(network_.graph(), network_.ranks(), &active);
      const auto hosts = network_.host_switches();
      for (const SwitchIndex from : hosts) {
        for (const SwitchIndex to : hosts) {
          if (now.distance(from, to) == LegalPaths::far) connect(active, from, to);
        }
      }
      continue;
    }
    if (evaluation_.fits(*loads)) return Found{std::move(active), std::move(*loads)};
    if (!relieve(active, *loads)) return std::nullopt;
  }
  return std::nullopt;
}

LinkSet GeneralSearch::skeleton() const {
  LinkSet active = *problem_.available;
  for (const Trunk& trunk : network_.trunks()) {
    for (const LinkIndex link : trunk.links) {
      if (regulated(link)) active.erase(link);
    }
  }
  const auto top = anchor();
  for (const SwitchIndex s : network_.host_switches()) {
    if (top) connect(active, s, *top);
  }
  for (const SwitchIndex manager : network_.manager_switches()) {
    for (const SwitchIndex s : network_.ranks().order()) connect(active, s, manager);
  }
  return active;
}

/// Adds a shortest legal path, over active links where there are any, else over the preferred ways up.
void GeneralSearch::connect(LinkSet& active, SwitchIndex from, SwitchIndex to) const {
  for (SwitchIndex at = from; at != to;) {
    const Hop* best = nullptr;
    const auto better = [&](const Hop& hop) {
      const bool on = active.contains(hop.link);
      const bool best_on = active.contains(best->link);
      if (on != best_on) return on;
      if (preference_[hop.peer.raw()] != preference_[best->peer.raw()])
        return preference_[hop.peer.raw()] < preference_[best->peer.raw()];
      return network_.ranks().above(hop.peer, best->peer);
    };
    for (const Hop& hop : network_.graph().hops(at)) {
      if (!problem_.available->contains(hop.link) || !paths_.shortest(at, hop, to)) continue;
      if (best == nullptr || better(hop)) best = &hop;
    }
    if (best == nullptr) return;
    active.insert(best->link);
    at = best->peer;
  }
}

/// From which most host switches are reached downwards; the highest of equals.
std::optional<SwitchIndex> GeneralSearch::anchor() const {
  std::optional<SwitchIndex> best;
  std::size_t most = 0;
  for (const SwitchIndex s : network_.ranks().order()) {
    const auto hosts = network_.host_switches();
    const auto reached = static_cast<std::size_t>(std::count_if(
        hosts.begin(), hosts.end(), [&](SwitchIndex host) { return paths_.goes_down(s, host); }));
    if (reached > most) {
      most = reached;
      best = s;
    }
    if (most == hosts.size()) break;
  }
  return best;
}

/// Adds links where loads are above their limits. False where there is none to add.
bool GeneralSearch::relieve(LinkSet& active, const std::vector<double>& loads) const {
  std::vector<SwitchIndex> crowded;
  std::uint16_t lowest = 0;
  for (const Trunk& trunk : network_.trunks()) {
    for (const LinkIndex link : trunk.links) {
      if (!active.contains(link)) continue;
      const std::uint32_t up = network_.up_hop(link);
      const std::uint32_t down = network_.down_hop(link);
      if (evaluation_.fits(up, loads[up]) && evaluation_.fits(down, loads[down])) continue;
      crowded.push_back(trunk.lower);
      break;
    }
  }
  std::sort(crowded.begin(), crowded.end());
  crowded.erase(std::unique(crowded.begin(), crowded.end()), crowded.end());
  for (const SwitchIndex s : crowded) lowest = std::max(lowest, network_.ranks().rank(s));
  bool added = false;
  for (const SwitchIndex s : crowded) {
    if (!by_levels_ || network_.ranks().rank(s) == lowest) added = add_ways_up(active, s, loads) || added;
  }
  if (added || !by_levels_) return added;
  for (const SwitchIndex s : crowded) added = add_ways_up(active, s, loads) || added;
  return added;
}

bool GeneralSearch::add_ways_up(LinkSet& active, SwitchIndex s, const std::vector<double>& loads) const {
  double up = 0;
  double down = 0;
  double limit = 0;
  struct Candidate {
    bool other_trunk;  ///< than a crowded one
    std::uint32_t preference;
    std::uint32_t position;
    LinkIndex link;
    auto operator<=>(const Candidate&) const = default;
  };
  std::vector<Candidate> candidates;
  std::vector<SwitchIndex> crowded_peers;
  for (const Hop& hop : network_.graph().hops(s)) {
    if (!network_.ranks().above(hop.peer, s) || !active.contains(hop.link)) continue;
    const std::uint32_t up_hop = network_.up_hop(hop.link);
    const std::uint32_t down_hop = network_.down_hop(hop.link);
    up += loads[up_hop];
    down += loads[down_hop];
    limit += evaluation_.limit(up_hop);
    if (!evaluation_.fits(up_hop, loads[up_hop]) || !evaluation_.fits(down_hop, loads[down_hop]))
      crowded_peers.push_back(hop.peer);
  }
  for (const Hop& hop : network_.graph().hops(s)) {
    if (!network_.ranks().above(hop.peer, s) || active.contains(hop.link) ||
        !problem_.available->contains(hop.link))
      continue;
    const bool same = std::find(crowded_peers.begin(), crowded_peers.end(), hop.peer) != crowded_peers.end();
    candidates.push_back({!same, preference_[hop.peer.raw()], network_.ranks().position(hop.peer), hop.link});
  }
  std::sort(candidates.begin(), candidates.end());
  // All that the sum needs at once, where one way up is as good as another; else one for each crowded peer.
  std::size_t taken = 0;
  const std::size_t least = by_levels_ ? 1 : std::max<std::size_t>(1, crowded_peers.size());
  for (const Candidate& candidate : candidates) {
    if (taken >= least && (!by_levels_ || limit * (1 + 1e-9) >= std::max(up, down))) break;
    if (!by_levels_ && taken >= least) break;
    active.insert(candidate.link);
    limit += evaluation_.limit(network_.up_hop(candidate.link));
    ++taken;
  }
  return taken > 0;
}

}  // namespace heddle::regulation
