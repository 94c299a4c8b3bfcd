// Host interfaces: source queues, packets out of messages, deliveries. And links that are switched.
#include <algorithm>
#include <bit>
#include <cmath>
#include <utility>

#include "sim/packet/packet_sim.h"

namespace heddle::packet {

void PacketSim::add_traffic(const TrafficClass& traffic, std::uint64_t seed) {
  const auto number = static_cast<std::uint32_t>(traffic_.size());
  traffic_.emplace_back(traffic, host_count(), seed);
  for (std::uint32_t host = 0; host < host_count(); ++host) {
    if (!here(net_.hosts[host].port)) continue;
    const Cycle first = traffic_[number].first(host);
    if (first == never || first >= traffic.stop) continue;
    sources_.push_back({number, host});
    wheel_.push(std::max(first, now()),
                Event::of(EventKind::Generate, static_cast<std::uint32_t>(sources_.size() - 1)));
  }
}

void PacketSim::generate(std::uint32_t id) {
  const HostSource source = sources_[id];
  if (source.traffic == nothing) {
    generate_stream(source.host, id);
    return;
  }
  TrafficSource& traffic = traffic_[source.traffic];
  const TrafficSource::Made made = traffic.make(source.host, now());
  const Send what{.source = source.host,
                  .target = made.target,
                  .flits = traffic.traffic().message_flits,
                  .sl = traffic.traffic().sl,
                  .salt = made.salt};
  const std::uint32_t message = make_message(what, now());
  if (traffic.traffic().process == Process::Backlog) messages_[message].origin = id;
  if (net_.plane.delays.injection == 0) {
    inject(message);
  } else {
    wheel_.push(now() + net_.plane.delays.injection, Event::of(EventKind::Inject, message));
  }
  if (made.next != never) wheel_.push(made.next, Event::of(EventKind::Generate, id));
}

void PacketSim::send(const Send& what, Cycle at) {
  wheel_.push(at + net_.plane.delays.injection, Event::of(EventKind::Inject, make_message(what, at)));
}

std::uint32_t PacketSim::make_message(const Send& what, Cycle at) {
  assert(what.source != what.target && what.flits > 0);
  const std::uint32_t id = messages_.make();
  Message& message = messages_[id];
  message.created = at;
  message.tag = what.tag;
  message.source = what.source;
  message.target = what.target;
  message.flits = message.to_send = message.outstanding = what.flits;
  message.salt = what.salt;
  message.lid = static_cast<std::uint16_t>(net_.hosts[what.target].lid.raw() + what.path);
  message.sl = what.sl;
  ++totals_.messages_generated;
  measurements_.by_sl[what.sl].generated_flits += static_cast<std::uint64_t>(what.flits);
  return id;
}

void PacketSim::inject(std::uint32_t id) {
  Message& message = messages_[id];
  const std::uint32_t port_id = net_.hosts[message.source].port;
  Port& port = net_.ports[port_id];
  unsigned vl = net_.plane.sl_to_vl[message.sl];
  if (!net_.host_turns.empty()) {
    vl = lane_in_turn(message.sl, net_.host_turns[std::size_t{message.source} * 32 + message.sl]);
  }
  if (!net_.programming.sl2vl.empty()) {
    const NodeIndex node = net_.fabric->port(PortIndex{port.slot}).node;
    const auto& table = net_.programming.sl2vl[node.raw()];
    if (!table.empty()) vl = table[port.number * 16U + message.sl % 16U].raw();
  }
  if (vl >= static_cast<unsigned>(net_.plane.vls)) {  // SL2VL says drop
    message.to_send = 0;
    settle_message({now(), id, message.flits, 0, false});
    return;
  }
  PortQueue& queue = net_.port_queues[port.first_queue + vl];
  if (queue.head == nothing) {
    queue.head = queue.tail = id;
    port.ready |= LaneMask{1} << vl;
    ready_to_send(port_id);
  } else {
    messages_[queue.tail].next = id;
    queue.tail = id;
  }
}

std::uint32_t PacketSim::make_packet(std::uint32_t port_id, unsigned vl) {
  Port& port = net_.ports[port_id];
  PortQueue& queue = net_.port_queues[port.first_queue + vl];
  const std::int32_t flits = head_flits(port, vl);
  const std::uint32_t id = packets_.make();
  Packet& packet = packets_[id];
  Message& message = messages_[queue.head];
  packet.message = queue.head;
  packet.flits = flits;
  packet.lid = message.lid;
  packet.sl = message.sl;
  packet.salt = message.salt;
  packet.injected = now();
  packet.serial = std::exchange(serials_, serials_ + (border_.division ? border_.division->parts : 1U));
  packet.home = part_;
  if (message.to_send == message.flits) message.injected = now();
  message.to_send -= flits;
  if (message.to_send == 0) {
    if (message.origin != nothing && sources_[message.origin].traffic != nothing &&
        now() + 1 < traffic_[sources_[message.origin].traffic].traffic().stop) {
      wheel_.push(now() + 1, Event::of(EventKind::Generate, message.origin));
    }
    queue.head = message.next;
    if (queue.head == nothing) port.ready &= ~(LaneMask{1} << vl);
  }
  ++totals_.injected;
  return id;
}

void PacketSim::deliver(std::uint32_t id) {
  Packet& packet = packets_[id];
  const Port& port = net_.ports[packet.port];
  // What closed after that closed before the last flit, which is here now.
  if (const Cycle down = closed_after(packet.sent, packet.port); down != never) {
    ++net_.counts[packet.port].broken;
    if (down <= packet.sent + port.flight) {
      ++totals_.lost;
      settle(packet, false);
      packets_.drop(id);
      return;
    }
    packet.broken = true;
  }
  if (port.far != target_of(packet)) {  // wrong tables: IBA 9.6.1, the LID is not this port's
    ++totals_.unroutable;
    settle(packet, false);
    packets_.drop(id);
    return;
  }
  if (packet.broken) {
    ++totals_.broken;
  } else {
    ++totals_.delivered;
    const Cycle latency = now() - packet.injected;
    for (Flow* flow : {&measurements_.by_sl[packet.sl], &measurements_.by_vl[packet.vl]}) {
      ++flow->packets;
      flow->flits += static_cast<std::uint64_t>(packet.flits);
      flow->network.add(latency);
    }
  }
  settle(packet, !packet.broken);
  packets_.drop(id);
}

std::uint32_t PacketSim::target_of(const Packet& packet) const {
  return packet.home == part_ ? messages_[packet.message].target : net_.host_of_lid[packet.lid];
}

/// A packet has come to its end.
void PacketSim::settle(const Packet& packet, bool whole) {
  const Mail::Ended ended{now(), packet.message, packet.flits, packet.vl, whole};
  if (packet.home == part_) {
    settle_message(ended);
  } else {
    border_.to(packet.home).ended.push_back(ended);
  }
}

/// A part of a message has come to its end.
void PacketSim::settle_message(const Mail::Ended& ended) {
  const std::uint32_t id = ended.message;
  Message& message = messages_[id];
  message.outstanding -= ended.flits;
  message.spoiled = message.spoiled || !ended.whole;
  if (!ended.whole) totals_.lost_flits += static_cast<std::uint64_t>(ended.flits);
  if (message.outstanding > 0) return;
  if (message.origin != nothing && sources_[message.origin].traffic == nothing) {
    stream_message_ended(message.origin, message.flits, !message.spoiled);
  }
  if (message.spoiled) {
    ++totals_.messages_lost;
    messages_.drop(id);
    return;
  }
  ++totals_.messages_delivered;
  const Cycle latency = ended.at - message.created;
  for (Flow* flow : {&measurements_.by_sl[message.sl], &measurements_.by_vl[ended.vl]}) {
    ++flow->messages;
    flow->end_to_end.add(latency);
  }
  const Delivery delivery{ended.at,   message.created, message.source, message.target,
                          message.sl, message.flits,   message.tag};
  messages_.drop(id);
  if (listener_ != nullptr) listener_->delivered(delivery);
}

void PacketSim::set_link(LinkIndex index, bool open) {
  const Link& link = net_.fabric->link(index);
  for (const LinkEnd end : {link.a, link.b}) {
    const std::uint32_t id = net_.port_of_slot[net_.fabric->port_index(end).raw()];
    if (id == nothing || net_.links[id].up == open) continue;
    net_.links[id].up = open;
    (void)link_changed(id);
  }
}

std::optional<std::uint32_t> PacketSim::link_changed(std::uint32_t id) {
  if (net_.links[id].up) {
    if (here(id) && net_.ports[id].ready != 0) wake_port_at(id, now());
    return {};
  }
  last_close_ = now();
  const Port& port = net_.ports[id];
  std::optional<std::uint32_t> cut;
  if (!port.to_host && here(port.peer)) cut = break_tail(id);
  if (here(id)) close(id);
  return cut;
}

void PacketSim::set_rate(LinkIndex index, BitRate rate) {
  const Link& link = net_.fabric->link(index);
  for (const LinkEnd end : {link.a, link.b}) {
    const std::uint32_t id = net_.port_of_slot[net_.fabric->port_index(end).raw()];
    if (id == nothing || net_.links[id].up || rate.value() <= 0) continue;
    const double bits = net_.plane.flit_bytes * 8.0;
    const double cycles = bits / rate.value() * 1e12 / static_cast<double>(net_.plane.cycle.count());
    net_.ports[id].flit_cycles = static_cast<std::int16_t>(std::clamp(std::ceil(cycles - 0.001), 1.0, 511.0));
  }
}

/// The packet whose header has gone on while its tail was still to come.
std::optional<std::uint32_t> PacketSim::break_tail(std::uint32_t id) {
  const Input& input = net_.inputs[net_.ports[id].far];
  if (input.last_tail < now()) return {};
  ++net_.counts[id].broken;
  Packet& packet = packets_[input.last_packet];
  if (packet.serial == input.last_serial) packet.broken = true;
  return input.last_serial;
}

void PacketSim::break_packet(std::uint32_t serial) {
  // One that has ended meanwhile is forgotten when its number is used again.
  for (std::uint32_t id = 0; id < packets_.peak(); ++id) {
    if (packets_[id].serial == serial) packets_[id].broken = true;
  }
}

void PacketSim::close(std::uint32_t id) {
  Port& port = net_.ports[id];
  port.last_down = now();
  if (port.stalled_since >= 0) {
    net_.counts[id].stalled += static_cast<std::uint64_t>(now() - port.stalled_since);
    port.stalled_since = -1;
  }
  for (unsigned vl = 0; !net_.lane_counts.empty() && vl < static_cast<unsigned>(net_.plane.vls); ++vl) {
    end_lane_stall(id, vl);
  }
  if (!port.host_side && net_.plane.closed_link == ClosedLink::Discard) {
    while (port.ready != 0) discard_head(id, static_cast<unsigned>(std::countr_zero(port.ready)));
  }
}

}  // namespace heddle::packet
