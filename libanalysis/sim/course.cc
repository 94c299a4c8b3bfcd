// The course of a MAD: from a client or an agent over the wires to an agent or a client, and back.

#include "base/network_order.h"
#include "mad/header.h"
#include "sim/parts.h"

namespace heddle::sim {
namespace {

using mad::Method;
using mad::MgmtClass;

// Read where they stand: this is the path of every MAD (IBA 13.4.2).
MgmtClass class_of(const mad::Packet& packet) { return static_cast<MgmtClass>(packet.mad[1]); }
Method method_of(const mad::Packet& packet) { return static_cast<Method>(packet.mad[3]); }
/// Of the client that asked, in a TID that the fabric has written there.
std::size_t slot_of(const mad::Packet& packet) {
  return std::size_t{from_network<std::uint16_t>(&packet.mad[8])} - 1U;
}
std::uint16_t attribute_of(const mad::Packet& packet) { return from_network<std::uint16_t>(&packet.mad[16]); }
constexpr std::uint8_t base_version = 1;

bool directed(const mad::Packet& packet) { return class_of(packet) == MgmtClass::SubnDirected; }
bool smp(const mad::Packet& packet) { return directed(packet) || class_of(packet) == MgmtClass::SubnLid; }

}  // namespace

Carrier::Way SimulatedFabric::Parts::find_way(PortIndex from, mad::Packet& packet, Picoseconds at) {
  const mad::Address& to = packet.address;
  if (directed(packet)) return carrier.directed(from, to.dlid, packet.mad, at);
  if (!smp(packet)) return carrier.by_lid(from, to.dlid, class_of(packet), to.sl, at);
  return carrier.by_lid(from, to.dlid, MgmtClass::SubnLid, to.sl, at);
}

void SimulatedFabric::Parts::transmit(PortIndex from, mad::Packet& packet, Picoseconds at) {
  Carrier::Way way;
  const std::size_t slot = slot_of(packet);
  if (class_of(packet) != MgmtClass::Perf || slot >= clients.size()) {
    way = find_way(from, packet, at);
  } else if (!mad::is_response(method_of(packet))) {
    way = carrier.from_client(from, packet.address.dlid, packet.address.sl, at);
  } else {
    way = carrier.to_client(from, clients[slot].port, packet.address.dlid, packet.address.sl, at);
  }
  if (!way.arrives) {
    ++statistics.lost_route;
    return;
  }
  Picoseconds due = at + model.options.mad_latency + way.wait;
  if (faulty) {
    if (random.chance(mad_faults.lost.value())) {
      ++statistics.lost_fault;
      return;
    }
    if (random.chance(mad_faults.corrupted.value())) {
      packet.mad[random.below(mad::mad_size)] ^= static_cast<std::uint8_t>(1 + random.below(255));
    }
    if (random.chance(mad_faults.duplicated.value())) {
      park(Parcel::Stage::Arrive, way.where, packet, due);
    }
    if (random.chance(mad_faults.delayed.value())) due += mad_faults.delay;
  }
  if (due == at) {
    arrive(way.where, packet, at);
  } else {
    park(Parcel::Stage::Arrive, way.where, packet, due);
  }
}

void SimulatedFabric::Parts::park(Parcel::Stage stage, const Arrival& where, const mad::Packet& packet,
                                  Picoseconds due) {
  std::uint32_t index = static_cast<std::uint32_t>(parcels.size());
  if (free_parcels.empty()) {
    parcels.push_back({stage, where, packet});
  } else {
    index = free_parcels.back();
    free_parcels.pop_back();
    parcels[index] = {stage, where, packet};
  }
  schedule.add(due, Event::Kind::Packet, index);
}

void SimulatedFabric::Parts::arrive(const Arrival& where, mad::Packet& packet, Picoseconds at) {
  if (!model.node_of(where.at).alive || packet.mad[0] != base_version) {
    ++statistics.discarded;
    return;
  }
  if (mad::is_response(method_of(packet)) || represses_a_program(where.at, packet)) {
    deliver_response(where.at, packet, at);
  } else if (smp(packet)) {
    arrive_smp(where, packet, at);
  } else {
    arrive_gmp(where, packet, at);
  }
}

/// What answers a trap that a program sent (OpenSM tells a master so that it stands by), not the port's
/// agent.
bool SimulatedFabric::Parts::represses_a_program(PortIndex port, const mad::Packet& packet) const {
  if (method_of(packet) != Method::TrapRepress) return false;
  const std::size_t slot = slot_of(packet);
  return slot < clients.size() && clients[slot].port == port;
}

void SimulatedFabric::Parts::arrive_smp(const Arrival& where, mad::Packet& packet, Picoseconds at) {
  const bool sm_info = attribute_of(packet) == static_cast<std::uint16_t>(mad::SmAttr::SmInfo);
  const Method method = method_of(packet);
  if (method == Method::Trap || (sm_info && sm_at.count(where.at) != 0)) {
    deliver_to_sm(where.at, packet, at);
    return;
  }
  const AgentFaults& faults = model.node_of(where.at).faults;
  if (faults.mute_sma || method == Method::Send || method == Method::Report) {
    ++statistics.discarded;
    return;
  }
  to_agent(where, packet, model.options.smp_service, at);
}

/// As devices of Mellanox do, at once: which firmware they run (mad/firmware.h).
void SimulatedFabric::Parts::answer_vendor(const Arrival& where, mad::Packet& packet) {
  const NodeState& node = model.node_of(where.at);
  mad::Header header = mad::read_header(packet.mad);
  const bool knows = node.traits.general_info && header.method == Method::Get;
  header.method = Method::GetResp;
  header.status = mad::status::bad_version;
  if (knows && header.attribute == mad::general_info) {
    const std::uint16_t described = model.fabric->node(model.fabric->port(where.at).node).device_id;
    mad::write_general_info(
        mad::GeneralInfo{static_cast<std::uint16_t>(node.device.revision),
                         node.device.id != 0 ? node.device.id : described, node.device.firmware},
        packet.mad);
    header.status = mad::status::ok;
  } else if (knows && header.attribute == mad::vendor_class_port_info) {
    header.status = mad::status::ok;
  } else if (knows) {
    header.status = mad::status::bad_method_attribute;
  }
  mad::write_header(header, packet.mad);
}

void SimulatedFabric::Parts::arrive_gmp(const Arrival& where, mad::Packet& packet, Picoseconds at) {
  const MgmtClass mgmt_class = class_of(packet);
  if (mgmt_class == MgmtClass::Perf) {
    if (model.node_of(where.at).faults.mute_pma) {
      ++statistics.discarded;
    } else {
      to_agent(where, packet, Picoseconds{0}, at);
    }
    return;
  }
  if (mgmt_class == MgmtClass::SubnAdm && method_of(packet) != Method::Report) {
    deliver_to_sm(where.at, packet, at);
    return;
  }
  if (mgmt_class == MgmtClass::SubnAdm) {
    for (std::size_t i = 0; i < clients.size(); ++i) {
      if (clients[i].port == where.at && clients[i].informed) deliver(i, packet, at);
    }
    return;
  }
  if (mgmt_class == MgmtClass::Mellanox && method_of(packet) <= Method::Set) {
    answer_vendor(where, packet);
    respond(where, packet, at);
    return;
  }
  bool taken = false;
  for (std::size_t i = 0; i < clients.size(); ++i) {
    if (clients[i].port != where.at || !clients[i].takes_others) continue;
    deliver(i, packet, at);
    taken = true;
  }
  if (!taken) ++statistics.discarded;
}

void SimulatedFabric::Parts::to_agent(const Arrival& where, mad::Packet& packet, Picoseconds service,
                                      Picoseconds at) {
  NodeState& node = model.node_of(where.at);
  Picoseconds due = at;
  if (service > Picoseconds{0}) {
    due = std::max(at, node.smp_idle_at) + service;
    node.smp_idle_at = due;
  }
  due += node.faults.slow;
  if (due == at) {
    handle(where, packet, at);
  } else {
    park(Parcel::Stage::Handle, where, packet, due);
  }
}

void SimulatedFabric::Parts::handle(const Arrival& where, mad::Packet& packet, Picoseconds at) {
  if (!model.node_of(where.at).alive) {
    ++statistics.discarded;
  } else if (smp(packet)) {
    handle_smp(where, packet, at);
  } else {
    handle_perf(where, packet, at);
  }
}

void SimulatedFabric::Parts::handle_smp(const Arrival& where, mad::Packet& packet, Picoseconds at) {
  LinkOrder order;
  if (!sma.answer(where, packet, order, at)) {
    if (method_of(packet) != Method::TrapRepress) ++statistics.discarded;
    return;
  }
  respond(where, packet, at);
  apply(order, at);
}

void SimulatedFabric::Parts::handle_perf(const Arrival& where, mad::Packet& packet, Picoseconds at) {
  PortIndex agent = where.at;
  if (packet.address.dqp != mad::gsi_qp) {
    agent = no_port;
    for (const auto& [node, redirect] : redirects) {
      if (redirect.target != where.at || redirect.qp != packet.address.dqp) continue;
      const NodeState& asked = model.nodes[node.raw()];
      const std::uint8_t wanted = packet.mad[mad::gmp_data_offset + 1];
      const bool own_port = asked.type != NodeType::Switch && wanted >= 1 && wanted <= asked.port_count;
      agent = PortIndex{asked.first_port.raw() + (own_port                         ? wanted
                                                  : asked.type == NodeType::Switch ? 0U
                                                                                   : 1U)};
    }
    if (agent == no_port) {
      ++statistics.discarded;
      return;
    }
  }
  mad::Header header = mad::read_header(packet.mad);
  header.status = header.class_version == 1 ? pma.answer(header, agent, packet.address.dqp, packet.mad, at)
                                            : mad::status::bad_version;
  header.method = Method::GetResp;
  mad::write_header(header, packet.mad);
  respond(where, packet, at);
}

void SimulatedFabric::Parts::respond(const Arrival& where, mad::Packet& packet, Picoseconds at) {
  const AgentFaults& faults = model.node_of(where.at).faults;
  if (faults.wrong_tid) packet.mad[15] ^= 0x55U;
  if (faults.wrong_attribute) packet.mad[17] ^= 0x40U;
  std::swap(packet.address.dlid, packet.address.slid);
  std::swap(packet.address.dqp, packet.address.sqp);
  if (directed(packet)) packet.mad[4] |= 0x80U;
  transmit(where.at, packet, at);
}

void SimulatedFabric::Parts::apply(const LinkOrder& order, Picoseconds at) {
  switch (order.what) {
    case LinkOrder::What::None:
      return;
    case LinkOrder::What::Disable:
      links.disable(order.port, PhysState::Disabled, at);
      return;
    case LinkOrder::What::Sleep:
      links.disable(order.port, PhysState::Sleep, at);
      return;
    case LinkOrder::What::Poll:
      links.poll(order.port, at);
      return;
    case LinkOrder::What::Bounce:
      links.bounce(order.port, at);
      return;
  }
}

void SimulatedFabric::Parts::deliver(std::size_t slot, const mad::Packet& packet, Picoseconds at) {
  ++statistics.delivered;
  const Client& client = clients[slot];
  const ClientId id{static_cast<std::uint32_t>(client.generation << 16U) | static_cast<std::uint32_t>(slot)};
  ready.push_back({id, at, packet});
}

void SimulatedFabric::Parts::deliver_response(PortIndex port, const mad::Packet& packet, Picoseconds at) {
  const std::size_t slot = slot_of(packet);
  if (slot < clients.size() && clients[slot].port == port) {
    deliver(slot, packet, at);
  } else {
    ++statistics.discarded;
  }
}

void SimulatedFabric::Parts::deliver_to_sm(PortIndex port, const mad::Packet& packet, Picoseconds at) {
  const auto sm = sm_at.find(port);
  if (sm == sm_at.end()) {
    ++statistics.discarded;
    return;
  }
  deliver(sm->second, packet, at);
}

void SimulatedFabric::Parts::run(Picoseconds until) {
  while (const auto event = schedule.take(until)) {
    now = std::max(now, event->at);
    carry_out(*event);
  }
  now = std::max(now, until);
}

void SimulatedFabric::Parts::carry_out(const Event& event) {
  switch (event.kind) {
    case Event::Kind::Trained:
      links.trained(LinkIndex{event.subject}, event.epoch, event.at);
      return;
    case Event::Kind::TrapRepeat:
      traps.repeat(event.subject, event.epoch, event.at);
      return;
    case Event::Kind::Flap:
      links.flap_due(event.subject, event.at);
      return;
    case Event::Kind::LeaseExpired:
      sma.lease_expired(PortIndex{event.subject}, event.epoch);
      return;
    case Event::Kind::SampleStart:
      pma.sample_started(PortIndex{event.subject}, event.epoch, event.at);
      return;
    case Event::Kind::SampleEnd:
      pma.sample_ended(PortIndex{event.subject}, event.epoch, event.at);
      return;
    case Event::Kind::Packet: {
      Parcel parcel = parcels[event.subject];
      free_parcels.push_back(event.subject);
      if (parcel.stage == Parcel::Stage::Arrive) {
        arrive(parcel.where, parcel.packet, event.at);
      } else {
        handle(parcel.where, parcel.packet, event.at);
      }
      return;
    }
  }
}

}  // namespace heddle::sim
