// On large fabrics, what even spreading found is held against the tables.

#include <algorithm>
#include <cmath>

#include "regulation/general_search.h"

namespace heddle::regulation {

using routing::Hop;
using routing::LinkSet;
using routing::SwitchIndex;

/// Where switches of a rank are not alike: how often links are added before all are put on.
constexpr unsigned most_unloadings = 60;

/// After even spreading: the tables' own loads, with more links where they are not as even.
void GeneralSearch::settle(Found& found) {
  for (unsigned round = 0; round < most_unloadings && !by_levels_; ++round) {
    found.loads = evaluation_.table_loads(found.active);
    if (evaluation_.bears(found.loads)) return;
    if (!unload(found.active, found.loads)) break;
  }
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

}  // namespace heddle::regulation
