#include "app/figures.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "base/printable.h"

namespace heddle::app {

namespace {

/// Both lists are in the order of their keys.
template <class Key>
power::EnergyTotals energy_of(const std::vector<std::pair<Key, power::EnergyTotals>>& all, const Key& key) {
  const auto found =
      std::ranges::lower_bound(all, key, {}, [](const auto& each) -> const Key& { return each.first; });
  return found != all.end() && found->first == key ? found->second : power::EnergyTotals{};
}

}  // namespace

metrics::RegulationFigures regulation_figures(const core::RegulationState& state,
                                              const power::EnergyRecord& energy,
                                              const std::vector<regulate::DrainShown>& drains,
                                              EnergyDetail detail) {
  metrics::RegulationFigures figures;
  figures.mode = to_string(state.mode);
  figures.spent = state.total.spent;
  figures.saved = state.total.saved;
  figures.power = state.power;
  figures.saving = state.saving;
  figures.turned_off = state.transitions.off;
  figures.turned_on = state.transitions.on;
  figures.reduced = state.transitions.reduced;
  figures.failed = state.transitions.failed;
  for (const auto& link : state.links) {
    const NodeIndex node = state.reference->find_node(link.link.a.node);
    const int width = !link.mode.on() ? 0 : link.mode == link.full ? 2 : 1;
    figures.links.push_back({link.link.a, printable(state.reference->node(node).description), width, {}});
    if (link.wake.seen > 0) figures.links.back().wake = std::chrono::duration<double>(link.wake.wake).count();
    figures.slow += link.exempt == regulation::Exempt::SlowWake ? 1 : 0;
    if (detail == EnergyDetail::Link) figures.links.back().energy = energy_of(energy.links, link.link);
  }
  for (const regulate::DrainShown& each : drains)
    figures.drained.push_back({printable(each.status.drain.what), each.safe});
  if (detail == EnergyDetail::Total) return figures;
  for (const Node& node : state.reference->nodes()) {
    if (node.type != NodeType::Switch) continue;
    figures.switches.push_back(
        {node.guid, printable(node.description), energy_of(energy.switches, node.guid)});
  }
  return figures;
}

metrics::QosFigures qos_figures(const core::QosState& state, Instant now) {
  metrics::QosFigures figures;
  figures.ports = state.ports;
  figures.drift_ports = state.drift.size();
  figures.silent_ports = state.silent.size();
  for (const auto& each : state.shortfalls) figures.reduced_ports += each.ports.size();
  figures.reapplied = state.reapplied;
  if (state.verified) {
    const auto at = std::chrono::system_clock::now().time_since_epoch() - (now - *state.verified);
    figures.verified = std::chrono::duration<double>(at).count();
  }
  return figures;
}

}  // namespace heddle::app
