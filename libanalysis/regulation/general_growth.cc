// From a skeleton, ways up wherever the predicted load is too high.

#include <algorithm>

#include "regulation/general_search.h"

namespace heddle::regulation {

using routing::Hop;
using routing::LegalPaths;
using routing::LinkSet;
using routing::SwitchIndex;

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
    for (const SwitchIndex s : network_.ranks().order()) {
      connect(active, s, manager);
      // What goes up and then down is as good the other way; a mend need not be.
      if (paths_.distance(manager, s) == LegalPaths::far) connect(active, manager, s);
    }
  }
  for (const routing::Mends::Mend& mend : network_.mends().all()) {
    if (network_.host_position(mend.at) != Network::no_position &&
        network_.host_position(mend.to) != Network::no_position)
      connect(active, mend.at, mend.to);
  }
  keep_in_sight(active);
  return active;
}

/// A link for each switch that managers reach by directed route only.
void GeneralSearch::keep_in_sight(LinkSet& active) const {
  for (const std::vector<SwitchIndex>& switches : network_.never_led()) {
    for (auto out = out_of_sight(network_, switches, active); !out.empty();) {
      const Hop* best = nullptr;
      for (const SwitchIndex s : out) {
        for (const Hop& hop : network_.graph().hops(s)) {
          const bool leads = std::find(out.begin(), out.end(), hop.peer) == out.end();
          if (!leads || !problem_.available->contains(hop.link)) continue;
          if (best == nullptr || preference_[hop.peer.raw()] < preference_[best->peer.raw()]) best = &hop;
        }
      }
      if (best == nullptr) break;
      active.insert(best->link);
      out = out_of_sight(network_, switches, active);
    }
  }
}

/// Adds a shortest legal path, over active links where there are any, else over the preferred ways up.
void GeneralSearch::connect(LinkSet& active, SwitchIndex from, SwitchIndex to) const {
  for (SwitchIndex at = from; at != to;) {
    const std::uint32_t mend = network_.mends().find(at, to);
    if (mend != routing::Mends::none) {
      const auto next = connect_mended(active, mend);
      if (!next) return;
      at = *next;
      continue;
    }
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

/// Adds a way of the mend, unless one is on. Where it leads; nowhere if none does.
std::optional<SwitchIndex> GeneralSearch::connect_mended(LinkSet& active, std::uint32_t number) const {
  const routing::Mends::Mend& mend = network_.mends().all()[number];
  const routing::Mends::Way* best = nullptr;
  for (const routing::Mends::Way& way : network_.mends().ways(mend)) {
    if (!routing::Mends::leads(mend, way, paths_, problem_.available, leading_)) continue;
    if (best == nullptr || (active.contains(way.link) && !active.contains(best->link))) best = &way;
  }
  if (best == nullptr) return std::nullopt;
  active.insert(best->link);
  return best->peer;
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
