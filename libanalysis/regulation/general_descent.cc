// From everything, level by level from the bottom: each switch keeps as many ways up as its load needs, the
// same ones everywhere as far as there are the same, and what no longer carries anything above goes with
// them.

#include <algorithm>
#include <numeric>

#include "regulation/general_search.h"

namespace heddle::regulation {

using routing::Hop;
using routing::LinkSet;
using routing::SwitchIndex;

namespace {

/// Trials per level: loads that gather on fewer switches may need more room than each switch by itself.
constexpr unsigned trials_per_level = 20;
/// How much more a switch keeps after a trial in which its own ways up were too full, and how much more all
/// of the level keep after one in which others were, or it had no more.
constexpr double more_for_one = 1.3;
constexpr double more_for_all = 1.15;

}  // namespace

std::optional<Found> GeneralSearch::descended(const Found& everything) {
  Found found = everything;
  std::vector<std::uint16_t> levels = ranks_;
  std::sort(levels.rbegin(), levels.rend());
  levels.erase(std::unique(levels.begin(), levels.end()), levels.end());
  bool any = false;
  for (const std::uint16_t level : levels) {
    std::vector<double> room(ranks_.size(), 1);
    for (unsigned trial = 0; trial < trials_per_level && evaluation_.spent() < options_.effort; ++trial) {
      LinkSet active = trimmed(found, level, room);
      if (active == found.active) break;
      auto loads = joined(active);
      if (!loads) break;
      if (evaluation_.fits(*loads)) {
        any = any || active != found.active;
        found = {std::move(active), std::move(*loads)};
        break;
      }
      make_room(found.active, active, *loads, level, room);
    }
  }
  if (!any) return std::nullopt;
  return found;
}

/// Without what the switches of the level can do without, each by itself: `room` times what its load takes
/// stays.
LinkSet GeneralSearch::trimmed(const Found& found, std::uint16_t level,
                               const std::vector<double>& room) const {
  LinkSet active = found.active;
  struct Candidate {
    std::uint32_t preference;
    std::uint32_t position;
    LinkIndex link;
    auto operator<=>(const Candidate&) const = default;
  };
  for (std::uint32_t i = 0; i < ranks_.size(); ++i) {
    if (ranks_[i] != level) continue;
    const SwitchIndex s{i};
    double up = 0;
    double down = 0;
    double kept = 0;
    std::vector<Candidate> candidates;
    for (const Hop& hop : network_.graph().hops(s)) {
      if (!network_.ranks().above(hop.peer, s) || !active.contains(hop.link)) continue;
      up += found.loads[network_.up_hop(hop.link)];
      down += found.loads[network_.down_hop(hop.link)];
      if (regulated(hop.link)) {
        candidates.push_back({preference_[hop.peer.raw()], network_.ranks().position(hop.peer), hop.link});
      } else {
        kept += evaluation_.limit(network_.up_hop(hop.link));
      }
    }
    std::sort(candidates.begin(), candidates.end());
    const double wanted = room[i] * std::max(up, down) * (1 - 1e-9);
    for (const Candidate& candidate : candidates) {
      if (kept >= wanted && (kept > 0 || wanted == 0))
        active.erase(candidate.link);
      else
        kept += evaluation_.limit(network_.up_hop(candidate.link));
    }
  }
  return active;
}

/// Loads, with the paths put back that are missing. Nothing where all available links do not give them.
std::optional<std::vector<double>> GeneralSearch::joined(LinkSet& active) {
  auto loads = evaluation_.loads(active);
  if (loads) return loads;
  const routing::LegalPaths now(network_.graph(), network_.ranks(), &active);
  const auto hosts = network_.host_switches();
  for (const SwitchIndex from : hosts) {
    for (const SwitchIndex to : hosts) {
      if (now.distance(from, to) == routing::LegalPaths::far) connect(active, from, to);
    }
  }
  for (const SwitchIndex manager : network_.manager_switches()) {
    for (const SwitchIndex s : network_.ranks().order()) {
      if (now.distance(manager, s) != routing::LegalPaths::far) continue;
      connect(active, s, manager);
      connect(active, manager, s);
    }
  }
  keep_in_sight(active);
  return evaluation_.loads(active);
}

void GeneralSearch::make_room(const LinkSet& most, const LinkSet& active, const std::vector<double>& loads,
                              std::uint16_t level, std::vector<double>& room) const {
  const auto has_more = [&](SwitchIndex s) {
    const auto hops = network_.graph().hops(s);
    return std::any_of(hops.begin(), hops.end(), [&](const Hop& hop) {
      return network_.ranks().above(hop.peer, s) && most.contains(hop.link) && !active.contains(hop.link);
    });
  };
  bool here = false;
  for (const Trunk& trunk : network_.trunks()) {
    for (const LinkIndex link : trunk.links) {
      if (!active.contains(link)) continue;
      const std::uint32_t up = network_.up_hop(link);
      const std::uint32_t down = network_.down_hop(link);
      if (evaluation_.fits(up, loads[up]) && evaluation_.fits(down, loads[down])) continue;
      if (ranks_[trunk.lower.raw()] != level || !has_more(trunk.lower)) continue;
      room[trunk.lower.raw()] *= more_for_one;
      here = true;
      break;
    }
  }
  if (here) return;
  for (double& each : room) each *= more_for_all;
}

/// A way up more for every switch below a link that the tables load above what it bears; for all of its rank
/// where it has none. False where there is no more.
bool GeneralSearch::unload(LinkSet& active, const std::vector<double>& loads) const {
  std::vector<SwitchIndex> crowded;
  for (const Trunk& trunk : network_.trunks()) {
    const bool full = std::any_of(trunk.links.begin(), trunk.links.end(), [&](LinkIndex link) {
      return active.contains(link) && (!evaluation_.bears(network_.up_hop(link), loads) ||
                                       !evaluation_.bears(network_.down_hop(link), loads));
    });
    if (full) crowded.push_back(trunk.lower);
  }
  bool added = false;
  std::vector<std::uint8_t> has_no_more(1U + *std::max_element(ranks_.begin(), ranks_.end()), 0);
  for (const SwitchIndex s : crowded) {
    if (add_way_up(active, s)) {
      added = true;
    } else {
      has_no_more[ranks_[s.raw()]] = 1;
    }
  }
  // What comes to those that have no more is to come over others too: those of the rank, else of the next
  // below.
  for (std::size_t rank = 0; rank < has_no_more.size(); ++rank) {
    if (has_no_more[rank] == 0) continue;
    bool here = false;
    for (std::uint32_t i = 0; i < ranks_.size(); ++i) {
      if (ranks_[i] == rank && carries(SwitchIndex{i}, active, loads))
        here = add_way_up(active, SwitchIndex{i}) || here;
    }
    added = added || here;
    if (!here && rank + 1 < has_no_more.size()) has_no_more[rank + 1] = 1;
  }
  return added;
}

}  // namespace heddle::regulation
