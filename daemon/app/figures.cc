#include "app/figures.h"

#include <chrono>

#include "base/printable.h"

namespace heddle::app {

metrics::RegulationFigures regulation_figures(const regulate::Regulator& regulator, EnergyDetail detail) {
  const regulation::Governor& governor = regulator.governor();
  const power::EnergyAccount& energy = regulator.energy();
  const regulate::Regulator::Transitions& transitions = regulator.transitions();
  metrics::RegulationFigures figures;
  figures.mode = to_string(governor.mode());
  figures.spent = energy.total().spent;
  figures.saved = energy.total().saved;
  figures.power = energy.power();
  figures.saving = energy.saving();
  figures.turned_off = transitions.off;
  figures.turned_on = transitions.on;
  figures.reduced = transitions.reduced;
  figures.failed = transitions.failed;
  for (const auto& link : governor.links()) {
    const NodeIndex node = governor.reference()->find_node(link.link.a.node);
    const int state = !link.mode.on() ? 0 : link.mode == link.full ? 2 : 1;
    figures.links.push_back(
        {link.link.a, printable(governor.reference()->node(node).description), state, {}});
    if (link.wake.seen > 0) figures.links.back().wake = std::chrono::duration<double>(link.wake.wake).count();
    figures.slow += link.exempt == regulation::Exempt::SlowWake ? 1 : 0;
    if (detail == EnergyDetail::Link) figures.links.back().energy = energy.link(link.link);
  }
  for (const regulate::DrainShown& each : regulator.drains())
    figures.drained.push_back({printable(each.status.drain.what), each.safe});
  if (detail == EnergyDetail::Total) return figures;
  for (const Node& node : governor.reference()->nodes()) {
    if (node.type != NodeType::Switch) continue;
    figures.switches.push_back({node.guid, printable(node.description), energy.node(node.guid)});
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
