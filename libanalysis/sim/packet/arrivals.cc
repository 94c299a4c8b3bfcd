// Phase 1 of a cycle at switches: headers that come in, credits that come back.
#include <limits>

#include "sim/packet/packet_sim.h"

namespace heddle::packet {
namespace {

constexpr std::uint8_t drop_vl = 15;  // IBA 7.6.6: SLtoVLMappingTable value 15 discards

/// Spreads a packet's salt over the switches on its way (finalizer of MurmurHash3, 32 bits).
std::uint32_t mix(std::uint32_t salt, std::uint32_t at_switch) {
  std::uint32_t x = salt ^ (at_switch * 0x9e3779b9U);
  x ^= x >> 16U;
  x *= 0x85ebca6bU;
  x ^= x >> 13U;
  x *= 0xc2b2ae35U;
  return x ^ x >> 16U;
}

}  // namespace

void PacketSim::header(std::uint32_t id) {
  Packet& packet = packets_[id];
  Input& input = net_.inputs[packet.place];
  input.last_packet = id;
  input.last_serial = packet.serial;
  input.last_tail = packet.tail;
  if (const Cycle down = closed_after(packet.sent, input.feeder); down != never) {
    if (down <= packet.sent + net_.ports[input.feeder].flight) {
      input.last_tail = -1;
      ++net_.counts[input.feeder].broken;
      drop(id, totals_.lost);
      return;
    }
    if (down <= input.last_tail) packet.broken = true;
  }
  if (!route(packet, input)) {
    input.last_tail = -1;
    drop(id, totals_.unroutable);
    return;
  }
  totals_.flit_hops += static_cast<std::uint64_t>(packet.flits);
  ++totals_.packet_hops;
  enqueue(id, packet.place);
}

bool PacketSim::route(Packet& packet, const Input& input) {
  const SwitchElement& at = net_.switches[input.at_switch];
  const DataPlane& plane = net_.plane;
  const std::uint32_t number =
      net_.programming.forwarding.port(routing::SwitchIndex{at.row}, Lid{packet.lid}).raw();
  if (number == 0 || number > at.ports) return false;
  std::uint32_t id = at.first_port + number;
  if (plane.up_routing != UpRouting::Programmed && net_.links[id].upward) {
    id = upward(packet, at, id);
  } else if (plane.trunk_routing != TrunkRouting::Programmed) {
    id = along_trunk(packet, id);
  }
  if (!net_.links[id].cabled) return false;
  packet.port = id;
  const std::uint32_t out = id - at.first_port;

  std::uint32_t vl = plane.sl_to_vl[packet.sl];
  if (!net_.input_turns.empty()) {
    vl = lane_in_turn(packet.sl, net_.input_turns[std::size_t{packet.place} * 32 + packet.sl]);
  }
  if (!net_.programming.sl2vl.empty()) {
    const auto& table = net_.programming.sl2vl[at.node.raw()];
    if (!table.empty()) vl = table[(input.number * (at.ports + 1) + out) * 16 + packet.sl % 16].raw();
  }
  if (vl == drop_vl || vl >= static_cast<std::uint32_t>(plane.vls)) return false;
  if (plane.model == SwitchModel::InfiniBand) {
    packet.output = at.first_output + out - 1;
  } else {
    packet.output = output_in_hierarchy(at, input, out);
  }
  if (plane.ring_rule == RingRule::DateLine) {
    const std::uint8_t ring = net_.outputs[net_.ports[id].outputs[0]].ring;
    const bool same = ring == input.ring && ring != RingHop::no_ring;
    packet.crossed = (same && packet.crossed) || net_.links[id].date_line;
    if (packet.crossed) vl += static_cast<std::uint32_t>(plane.vls) / 2;
  }
  packet.next_vl = static_cast<std::uint8_t>(vl);
  return true;
}

/// SLs with several SCs: one after another, packet by packet.
std::uint8_t PacketSim::lane_in_turn(std::uint8_t sl, std::uint8_t& turn) const {
  const std::vector<std::uint8_t>& lanes = net_.plane.sl_turns[sl];
  if (lanes.empty()) return net_.plane.sl_to_vl[sl];
  const std::uint8_t lane = lanes[turn % lanes.size()];
  turn = static_cast<std::uint8_t>((turn + 1U) % lanes.size());
  return lane;
}

/// To a port of the same MPort, or by the parity of the port to the centre.
std::uint32_t PacketSim::output_in_hierarchy(const SwitchElement& at, const Input& input,
                                             std::uint32_t out) const {
  const bool one = net_.plane.output_arbiter == OutputArbiter::One;
  if ((out - 1) / 4 == (input.number - 1U) / 4)
    return one ? at.first_output + out - 1 : input.first_output + (out - 1) % 4;
  const std::uint32_t own_ports = one ? 0 : net_.outputs[input.first_output].inputs;
  return input.first_output + own_ports + (out - 1) % 2;
}

/// Among the links upwards that keep the way as short as it is, one by chance or by the room behind it.
std::uint32_t PacketSim::upward(const Packet& packet, const SwitchElement& at, std::uint32_t programmed) {
  const std::uint32_t host = packet.lid < net_.host_of_lid.size() ? net_.host_of_lid[packet.lid] : nothing;
  if (host == nothing || net_.hosts[host].leaf == nothing) return programmed;
  const std::size_t switches = net_.switches.size();
  const std::uint8_t* distance = &net_.distance[net_.hosts[host].leaf * switches];
  const auto here = static_cast<std::uint32_t>(&at - net_.switches.data());
  const std::uint32_t count = at.uplinks;
  std::uint32_t turn = mix(packet.salt, here) % count;
  std::uint32_t best = programmed;
  std::int32_t best_room = std::numeric_limits<std::int32_t>::min();
  for (std::uint32_t i = 0; i < count; ++i, turn = turn + 1 == count ? 0 : turn + 1) {
    const Uplink link = net_.uplinks[at.first_uplink + turn];
    if (!net_.links[link.port].up || distance[link.above] + 1 != distance[here]) continue;
    if (net_.plane.up_routing == UpRouting::Valiant) return link.port;
    const std::int32_t room =
        net_.pools.room(net_.ports[link.port].pool, net_.plane.sl_to_vl[packet.sl], now());
    if (room > best_room) {
      best_room = room;
      best = link.port;
    }
  }
  return best;
}

/// Among the open links to the same neighbour, one by chance or by the room behind it.
std::uint32_t PacketSim::along_trunk(const Packet& packet, std::uint32_t programmed) {
  const Trunk trunk = net_.trunks[programmed];
  if (trunk.count == 1) return programmed;
  std::uint32_t turn = mix(packet.salt, net_.ports[programmed].at_switch) % trunk.count;
  std::uint32_t best = programmed;
  std::int32_t best_room = std::numeric_limits<std::int32_t>::min();
  for (std::uint32_t i = 0; i < trunk.count; ++i, turn = turn + 1 == trunk.count ? 0 : turn + 1) {
    const std::uint32_t port = net_.trunk_ports[trunk.first + turn];
    if (!net_.links[port].up) continue;
    if (net_.plane.trunk_routing == TrunkRouting::PerMessage) return port;
    const std::int32_t room = net_.pools.room(net_.ports[port].pool, net_.plane.sl_to_vl[packet.sl], now());
    if (room > best_room) {
      best_room = room;
      best = port;
    }
  }
  return best;
}

void PacketSim::enqueue(std::uint32_t id, std::uint32_t input_id) {
  Packet& packet = packets_[id];
  Input& input = net_.inputs[input_id];
  const unsigned vl = input.central ? packet.next_vl : packet.vl;
  Queue& queue = net_.input_queues[input.first_queue + vl];
  if (input.central)
    packet.output = net_.switches[input.at_switch].first_output + net_.ports[packet.port].number - 1U;
  packet.next = nothing;
  if (queue.head == nothing) {
    queue.head = queue.tail = id;
    input.ready |= 1U << vl;
    ask(input_id);
  } else {
    packets_[queue.tail].next = id;
    queue.tail = id;
  }
}

void PacketSim::stored(std::uint32_t id) {
  Packet& packet = packets_[id];
  Port& port = net_.ports[packet.port];
  if (!net_.links[packet.port].up && net_.plane.closed_link == ClosedLink::Discard) {
    ++net_.counts[packet.port].discards;
    ++net_.counts[packet.port].inactive;
    net_.pools.give(port.pool, packet.next_vl, packet.flits);
    for (const std::uint32_t output : port.outputs) {
      if (output != nothing && net_.outputs[output].room_wait) wake_waiters(output);
    }
    drop(id, totals_.discarded);
    return;
  }
  PortQueue& queue = net_.port_queues[port.first_queue + packet.next_vl];
  packet.next = nothing;
  if (queue.head == nothing) {
    queue.head = queue.tail = id;
    queue.since = now();
    port.ready |= 1U << packet.next_vl;
    watch_lifetime(packet.port);
    ready_to_send(packet.port);
  } else {
    packets_[queue.tail].next = id;
    queue.tail = id;
  }
}

void PacketSim::credit(std::uint32_t pool, std::uint32_t data) {
  net_.pools.give_ramp(pool, credit_vl(data), credit_shape(data), now(), now());
  const PoolOwner owner = net_.pool_owners[pool];
  if (owner.central) {
    if (net_.outputs[owner.id].room_wait) wake_waiters(owner.id);
  } else if (net_.ports[owner.id].credit_wait) {
    net_.ports[owner.id].credit_wait = false;
    ready_to_send(owner.id);
  }
}

/// To the sender that feeds the input, or to the output that fills a central one.
void PacketSim::return_room(const Input& input, Cycle at, std::uint32_t data) {
  if (!input.abroad) {
    wheel_.push(at, Event::of(EventKind::Credit, input.pool, data));
    return;
  }
  border_.to(border_.division->of_port[input.feeder]).room.push_back({at, input.pool, data});
  border_.earliest = std::min(border_.earliest, at);
}

/// A packet that is given up where it is. Before it was in a queue its room at the input comes back as its
/// flits come.
void PacketSim::drop(std::uint32_t id, std::uint64_t& reason) {
  ++reason;
  const Packet& packet = packets_[id];
  if (&reason != &totals_.discarded) {
    const Input& input = net_.inputs[packet.place];
    const std::uint32_t data =
        credit_data(packet.vl, {.flits = packet.flits, .stride = net_.ports[input.feeder].flit_cycles});
    return_room(input, now() + net_.plane.delays.credit, data);
  }
  settle(packet, false);
  packets_.drop(id);
}

}  // namespace heddle::packet
