#include "regulation/general_search.h"

#include <algorithm>

#include "regulation/trunk_policy.h"
#include "regulation/trunk_settling.h"
#include "routing/balance.h"

namespace heddle::regulation {

using routing::Hop;
using routing::LinkSet;
using routing::SwitchIndex;

GeneralSearch::GeneralSearch(const SelectionProblem& problem, const SelectOptions& options)
    : problem_{problem},
      options_{options},
      network_{*problem.network},
      evaluation_{problem, options},
      cages_{*problem.power, network_},
      paths_{network_.graph(), network_.ranks(), problem.available},
      leading_{network_.mends().leading(paths_, problem.available)},
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
  double sum = cages_.wasted(active);
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
  const bool by_tables = evaluation_.model() == Evaluation::Model::Tables;
  if (by_tables) with_all_ = fullest_of_trunk(network_, everything.loads);
  std::vector<Found> sets = starts(everything);
  Found best = everything;
  if (!by_tables) {
    best = cheapest_borne(everything, std::move(sets));
  } else if (!sets.empty()) {
    best = std::move(sets.front());
  }
  if (!by_levels_) {
    if (auto found = by_trunks(everything); found && watts(found->active) < watts(best.active)) {
      best = std::move(*found);
      if (!by_tables) thin_out(best);
    }
  }
  if (by_tables) thin_out(best);
  return best;
}

/// What fits by the model, the cheapest first.
std::vector<Found> GeneralSearch::starts(const Found& everything) {
  std::vector<Found> sets;
  const auto consider = [&](std::optional<Found> found) {
    if (found) sets.push_back(std::move(*found));
  };
  consider(thinned(everything));
  if (!by_levels_) consider(descended(everything));
  consider(grown());
  std::ranges::stable_sort(sets, {}, [&](const Found& found) { return watts(found.active); });
  return sets;
}

/// What the trunk rule would do, where even spreading is not what tables do: by its own samples, which show
/// less than the estimate where links are too full to carry it, and by the estimate.
std::optional<Found> GeneralSearch::by_trunks(const Found& everything) {
  const std::vector<double> present = evaluation_.table_loads(everything.active);
  with_all_ = fullest_of_trunk(network_, present);
  evaluation_.allow(with_all_);
  MeasuredLoads estimated = *problem_.loads;
  estimated.hop = present;
  std::optional<Found> best = by_trunks(everything, estimated, present);
  // Samples of what is on at present would leave out what is not.
  if (*problem_.current == everything.active) {
    if (auto found = by_trunks(everything, *problem_.loads, present);
        found && (!best || watts(found->active) < watts(best->active)))
      best = std::move(found);
  }
  return best;
}

std::optional<Found> GeneralSearch::by_trunks(const Found& everything, const MeasuredLoads& measured,
                                              const std::vector<double>& present) {
  SelectionProblem from_all = problem_;
  from_all.current = &everything.active;
  from_all.loads = &measured;
  TrunkChoice choice = choose_by_trunks(from_all, options_, present);
  if (choice.active == everything.active) return std::nullopt;
  std::vector<double> loads = settle_trunks(from_all, evaluation_, choice);
  // Paths that are mends follow what other trunks keep. A link that is too full with all links on, and stays
  // on, may get a little more of them: the rule for trunks has nothing to put back there.
  std::vector<double> judged = loads;
  const double u_on = options_.thresholds.u_on.value();
  for (const Trunk& trunk : network_.trunks()) {
    const bool all_stay = std::all_of(trunk.links.begin(), trunk.links.end(), [&](LinkIndex link) {
      return choice.active.contains(link) || !everything.active.contains(link);
    });
    if (!all_stay) continue;
    for (const LinkIndex link : trunk.links) {
      for (const std::uint32_t hop : {network_.up_hop(link), network_.down_hop(link)}) {
        if (present[hop] > u_on * network_.capacity(link) && loads[hop] <= most_by_mends * present[hop])
          judged[hop] = std::min(loads[hop], present[hop]);
      }
    }
  }
  if (!evaluation_.bears(judged)) return std::nullopt;
  return Found{std::move(choice.active), std::move(loads)};
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

}  // namespace heddle::regulation
