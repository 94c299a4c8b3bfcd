#include "regulation/crowding.h"

#include <algorithm>

#include "regulation/trunk_policy.h"

namespace heddle::regulation {
namespace {

/// Entries of tables (switches x hosts) that all trials may follow: about a tenth of a second.
constexpr double entries_of_all_trials = 2e7;
constexpr double fewest_trials = 8;  ///< down to one link of as many as may leave at a time as shipped
constexpr double most_trials = 128;

/// bit/s by hop, as it was predicted.
std::vector<double> loads_of(const Network& network, const Selection& selection) {
  std::vector<double> loads = selection.predicted;
  for (const Trunk& trunk : network.trunks()) {
    for (const LinkIndex link : trunk.links) {
      const power::LinkMode mode = selection.modes[link.raw()];
      const double rate = mode.on() ? data_rate(mode.width, mode.speed).value() : 0;
      loads[network.up_hop(link)] *= rate;
      loads[network.down_hop(link)] *= rate;
    }
  }
  return loads;
}

}  // namespace

Crowding::Crowding(const SelectionProblem& problem, const SelectOptions& options, const routing::LinkSet& on)
    : network_{*problem.network}, evaluation_{problem, options} {
  evaluation_.allow(fullest_of_trunk(network_, evaluation_.table_loads(on)));
}

void Crowding::allow(const Selection& whole) { evaluation_.allow(loads_of(network_, whole)); }

bool Crowding::at(const routing::LinkSet& active) {
  const std::vector<double> loads = evaluation_.table_loads(active);
  return std::ranges::any_of(network_.trunks(), [&](const Trunk& trunk) {
    return std::ranges::any_of(trunk.links, [&](LinkIndex link) {
      return !evaluation_.suffices(network_.up_hop(link), loads) ||
             !evaluation_.suffices(network_.down_hop(link), loads);
    });
  });
}

unsigned Crowding::trials() const {
  const auto& graph = network_.graph();
  const double followed = static_cast<double>(graph.size()) * static_cast<double>(graph.host_count());
  return static_cast<unsigned>(
      std::clamp(entries_of_all_trials / std::max(1.0, followed), fewest_trials, most_trials));
}

}  // namespace heddle::regulation
