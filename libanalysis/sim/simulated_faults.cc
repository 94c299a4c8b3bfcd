// Faults on demand.

#include <algorithm>

#include "sim/parts.h"

namespace heddle::sim {

void SimulatedFabric::set_traits(NodeIndex node, const NodeTraits& traits) {
  NodeState& state = parts_->model.nodes[node.raw()];
  state.traits = traits;
  for (unsigned p = 0; p <= state.port_count; ++p) {
    mad::PortInfo& info = parts_->model.info(PortIndex{state.first_port.raw() + p});
    if (info.capability_mask == 0) continue;
    if (traits.traps) {
      info.capability_mask |= mad::port_cap::trap;
    } else {
      info.capability_mask &= ~mad::port_cap::trap;
    }
  }
}

void SimulatedFabric::set_mad_faults(const MadFaults& faults) {
  const Ratio none;
  parts_->mad_faults = faults;
  parts_->faulty =
      faults.lost > none || faults.duplicated > none || faults.corrupted > none || faults.delayed > none;
}

void SimulatedFabric::set_agent_faults(NodeIndex node, const AgentFaults& faults) {
  parts_->model.nodes[node.raw()].faults = faults;
}

void SimulatedFabric::set_redirect(NodeIndex node, std::optional<Redirect> redirect) {
  parts_->model.nodes[node.raw()].redirect = redirect;
  std::erase_if(parts_->redirects, [&](const auto& entry) { return entry.first == node; });
  if (redirect) parts_->redirects.emplace_back(node, *redirect);
}

void SimulatedFabric::set_guid(NodeIndex node, NodeGuid guid) { parts_->model.nodes[node.raw()].guid = guid; }

void SimulatedFabric::set_device(NodeIndex node, const Device& device) {
  parts_->model.nodes[node.raw()].device = device;
}

void SimulatedFabric::set_intake(PortIndex port, Ratio share, Picoseconds now) {
  parts_->run(now);
  parts_->intakes[port] = share;
  parts_->model.changed({.kind = Change::Kind::PortState, .port = port}, parts_->now);
}

void SimulatedFabric::set_training_delay(LinkIndex link, Picoseconds delay) {
  LinkState& state = parts_->model.links[link.raw()];
  state.training_delay = delay;
  state.draws_training = false;
}

void SimulatedFabric::kill(NodeIndex node, Picoseconds now) {
  parts_->run(now);
  parts_->links.kill(node, parts_->now);
  parts_->traps.forget(node);
}

void SimulatedFabric::revive(NodeIndex node, Picoseconds now) {
  parts_->run(now);
  const NodeState& state = parts_->model.nodes[node.raw()];
  if (state.alive) return;
  for (unsigned p = 0; p <= state.port_count; ++p) {
    parts_->counters.clear(PortIndex{state.first_port.raw() + p}, parts_->now);
  }
  parts_->links.revive(node, parts_->now);
}

void SimulatedFabric::cut(LinkIndex link, Picoseconds now) {
  parts_->run(now);
  parts_->links.cut(link, parts_->now);
}

void SimulatedFabric::mend(LinkIndex link, Picoseconds now) {
  parts_->run(now);
  parts_->links.mend(link, parts_->now);
}

void SimulatedFabric::flap(LinkIndex link, const Flap& flap, Picoseconds now) {
  parts_->run(now);
  parts_->links.flap(link, flap, parts_->now);
}

void SimulatedFabric::limit(LinkIndex link, const CableLimit& limit, Picoseconds now) {
  parts_->run(now);
  parts_->links.limit(link, limit, parts_->now);
}

void SimulatedFabric::add_errors(PortIndex port, ErrorCounter counter, std::uint64_t count, Picoseconds now) {
  parts_->run(now);
  parts_->counters.add_errors(port, counter, count);
  const mad::PortInfo& info = parts_->model.info(port);
  if (count == 0) return;
  // IBA 7.12.2: the thresholds LocalPhyErrors and OverrunErrors of PortInfo; 0 is none.
  if (counter == ErrorCounter::LocalLinkIntegrity && info.local_phys_errors != 0) {
    parts_->traps.threshold(port, 129, parts_->now);
  }
  if (counter == ErrorCounter::ExcessiveBufferOverrun && info.overrun_errors != 0) {
    parts_->traps.threshold(port, 130, parts_->now);
  }
}

void SimulatedFabric::add_error_details(PortIndex port, ErrorDetail detail, std::uint64_t count,
                                        Picoseconds now) {
  parts_->run(now);
  parts_->counters.add_detail(port, detail, count);
}

void SimulatedFabric::set_bit_errors(PortIndex port, const BitErrors& errors, Picoseconds now) {
  parts_->run(now);
  parts_->counters.phy().set(port, errors, parts_->now);
}

void SimulatedFabric::preset_counters(PortIndex port, const PortTotals& value, Picoseconds now) {
  parts_->run(now);
  parts_->counters.write(port, Counters::Set::Narrow, value, parts_->now);
  parts_->counters.write(port, Counters::Set::Wide, value, parts_->now);
}

void SimulatedFabric::raise_trap(NodeIndex node, const mad::Notice& notice, Picoseconds now) {
  parts_->run(now);
  const NodeState& state = parts_->model.nodes[node.raw()];
  const PortIndex port =
      state.type == NodeType::Switch ? state.first_port : PortIndex{state.first_port.raw() + 1};
  if (port.raw() > state.first_port.raw() + state.port_count) return;
  parts_->traps.raise(port, notice, parts_->now);
}

}  // namespace heddle::sim
