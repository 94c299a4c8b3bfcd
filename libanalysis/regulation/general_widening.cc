// On large fabrics, what even spreading found is held against the tables.

#include <algorithm>
#include <cmath>
#include <limits>

#include "regulation/general_search.h"
#include "regulation/trunk_policy.h"

namespace heddle::regulation {

using routing::Hop;
using routing::LinkSet;
using routing::SwitchIndex;

namespace {

/// Where switches of a rank are not alike: how often links are added before a set is given up, and how often
/// without much less above what links bear.
constexpr unsigned most_unloadings = 60;
constexpr unsigned most_idle = 6;
constexpr double least_progress = 0.98;
/// So many times what even spreading found is a reason to look for sets with more room.
constexpr double dear = 1.5;
constexpr double room_left = 0.88;
constexpr unsigned most_tightenings = 2;

}  // namespace

/// Even spreading fills links alike, and whole LIDs do not. Where the tables bear what it found only with
/// many links more, it looks once more for sets that leave more room in every link. Everything where nothing
/// helps.
Found GeneralSearch::cheapest_borne(const Found& everything, std::vector<Found> sets) {
  const double least = sets.empty() ? 0 : watts(sets.front().active);
  const std::vector<double> all_on = fullest_of_trunk(network_, everything.loads);
  const std::vector<double> limits = evaluation_.limits();
  std::optional<Found> best = cheapest_settled(std::move(sets));
  for (unsigned i = 0; i < most_tightenings && least > 0 && !by_levels_; ++i) {
    if (best && watts(best->active) <= dear * least) break;
    evaluation_.tighten(room_left, all_on);
    auto found = cheapest_settled(starts(everything));
    if (found && (!best || watts(found->active) < watts(best->active))) best = std::move(found);
  }
  evaluation_.restore_limits(limits);
  if (best) return std::move(*best);
  Found all{everything.active, evaluation_.table_loads(everything.active)};
  evaluation_.allow(all.loads);
  return all;
}

/// Of `sets`, the cheapest first, the one that is cheapest with what the tables need besides. Nothing where
/// they bear none.
std::optional<Found> GeneralSearch::cheapest_settled(std::vector<Found> sets) {
  std::optional<Found> best;
  for (Found& found : sets) {
    if (best && watts(found.active) >= watts(best->active)) break;
    if (!settle(found)) continue;
    if (!best || watts(found.active) < watts(best->active)) best = std::move(found);
  }
  return best;
}

/// By how much links are above what they bear, in all.
double GeneralSearch::excess(const std::vector<double>& loads) const {
  double sum = 0;
  for (std::size_t h = 0; h < loads.size(); ++h) sum += std::max(0.0, loads[h] - evaluation_.ceilings()[h]);
  return sum;
}

/// After even spreading: the tables' own loads, with more links where they are not as even. False where
/// more links do not help.
bool GeneralSearch::settle(Found& found) {
  double least = std::numeric_limits<double>::infinity();
  unsigned idle = 0;
  for (unsigned round = 0; round < most_unloadings && !by_levels_; ++round) {
    found.loads = evaluation_.table_loads(found.active);
    if (evaluation_.bears(found.loads)) return true;
    const double over = excess(found.loads);
    idle = over < least_progress * least ? 0 : idle + 1;
    least = std::min(least, over);
    if (idle > most_idle) return false;
    if (!unload(found.active, found.loads)) break;
  }
  for (unsigned round = 0; round < 5; ++round) {
    found.loads = evaluation_.table_loads(found.active);
    if (evaluation_.bears(found.loads)) return true;
    if (!widen(found.active, found.loads)) break;
    // What is new at one rank asks for more at the next.
    for (unsigned growth = 0; growth < 12; ++growth) {
      const auto spread = evaluation_.loads(found.active);
      if (!spread || evaluation_.fits(*spread) || !relieve(found.active, *spread)) break;
    }
  }
  return false;
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

}  // namespace heddle::regulation
