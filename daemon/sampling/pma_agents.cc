#include "sampling/pma_agents.h"

#include <algorithm>
#include <tuple>
#include <unordered_map>

namespace heddle::sampling {
namespace {

// More agents than the window of the transaction engine, so that each gets few requests at a time.
constexpr std::uint32_t agents_at_once = 96;

/// Where an agent can be asked: not at the permissive LID or a multicast one, whatever a port says of itself.
bool can_be_asked(Lid lid) { return lid != no_lid && lid <= last_unicast_lid; }

}  // namespace

PmaCapabilities capabilities(const mad::ClassPortInfo& info) {
  namespace cap = mad::pm_cap;
  PmaCapabilities pma;
  const std::uint16_t mask = info.capability_mask;
  pma.casts = (mask & cap::extended_width) != 0;
  pma.wide = pma.casts || (mask & cap::extended_width_no_ietf) != 0;
  pma.wide_errors = pma.wide && (info.capability_mask2 & cap::extended_errors) != 0;
  pma.wait = (mask & cap::xmit_wait) != 0;
  pma.capability_mask = mask;
  return pma;
}

load::CounterMask wanted_of_extended(const PmaCapabilities& pma) {
  if (!pma.wide) return 0;
  load::CounterMask wanted = load::traffic_counters;
  if (pma.casts) wanted |= load::cast_counters;
  if (pma.wide_errors) wanted |= load::error_counters;
  return pma.wait ? wanted : wanted & ~mask(load::Counter::XmitWait);
}

load::CounterMask wanted_of_basic(const PmaCapabilities& pma) {
  if (pma.wide_errors) return 0;
  load::CounterMask wanted = load::error_counters;
  if (!pma.wide) wanted |= load::traffic_counters;
  return pma.wait ? wanted : wanted & ~mask(load::Counter::XmitWait);
}

PmaAgents::PmaAgents(const Fabric& fabric, const PmaAgents& before)
    : of_port_(fabric.ports().size(), no_agent) {
  for (const Node& node : fabric.nodes()) {
    if (node.type == NodeType::Switch) {
      const Lid lid = fabric.port(node.first_port).lid;
      if (!can_be_asked(lid)) continue;
      const AgentIndex agent = add({node.guid, PortNum{0}}, lid);
      for (std::uint32_t p = node.enhanced_port0 ? 0 : 1; p <= node.port_count; ++p) {
        of_port_[node.first_port.raw() + p] = agent;
      }
    } else {
      for (std::uint32_t p = 1; p <= node.port_count; ++p) {
        const std::uint32_t port = node.first_port.raw() + p;
        const Lid lid = fabric.ports()[port].lid;
        if (can_be_asked(lid)) of_port_[port] = add({node.guid, PortNum{static_cast<std::uint8_t>(p)}}, lid);
      }
    }
  }
  std::unordered_map<PortRef, const PmaAgent*> known;
  known.reserve(before.size());
  for (const PmaAgent& agent : before.agents_) known.emplace(agent.home, &agent);
  for (PmaAgent& agent : agents_) {
    const auto found = known.find(agent.home);
    if (found == known.end() || found->second->state != PmaAgent::State::Known) continue;
    const PmaAgent& old = *found->second;
    const bool redirected = old.redirections > 0;
    if (redirected && old.home_lid != agent.home_lid) continue;
    const auto address = redirected ? old.address : agent.address;
    const Lid lid = agent.home_lid;
    agent = old;
    agent.home_lid = lid;
    agent.address = address;
  }
  order(fabric);
}

AgentIndex PmaAgents::add(PortRef home, Lid lid) {
  PmaAgent agent;
  agent.home = home;
  agent.home_lid = lid;
  agent.address.dlid = lid;
  agents_.push_back(agent);
  return AgentIndex{static_cast<std::uint32_t>(agents_.size() - 1)};
}

void PmaAgents::order(const Fabric& fabric) {
  // Within a group of agents, the k-th of an agent's n ports has its turn at (k + 1/2) / n.
  struct Turn {
    std::uint32_t group;
    std::uint32_t when;
    PortIndex port;
  };
  std::vector<std::uint32_t> ports_of(agents_.size());
  for (const AgentIndex agent : of_port_) {
    if (agent != no_agent) ++ports_of[agent.raw()];
  }
  std::vector<Turn> turns;
  std::vector<std::uint32_t> seen(agents_.size());
  for (std::uint32_t i = 0; i < fabric.ports().size(); ++i) {
    const AgentIndex agent = of_port_[i];
    if (agent == no_agent) continue;
    const std::uint32_t k = seen[agent.raw()]++;
    turns.push_back(
        {agent.raw() / agents_at_once, (2 * k + 1) * 65536 / ports_of[agent.raw()], PortIndex{i}});
  }
  std::ranges::stable_sort(turns, {}, [](const Turn& turn) { return std::tuple{turn.group, turn.when}; });
  ports_.reserve(turns.size());
  for (const Turn& turn : turns) ports_.push_back(turn.port);
}

void PmaAgents::begin_sweep() {
  for (PmaAgent& agent : agents_) {
    if (agent.state == PmaAgent::State::Failed) agent.state = PmaAgent::State::Unknown;
  }
}

}  // namespace heddle::sampling
