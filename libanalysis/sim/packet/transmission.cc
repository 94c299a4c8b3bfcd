// Phase 3 of a cycle: links that are idle choose a packet.
#include <algorithm>
#include <bit>

#include "sim/packet/packet_sim.h"

namespace heddle::packet {

void PacketSim::ready_to_send(std::uint32_t id) {
  Port& port = net_.ports[id];
  if (port.queued || port.ready == 0) return;
  if (port.free_at > now()) {
    wake_port_at(id, port.free_at);
    return;
  }
  port.queued = true;
  sending_.push_back(id);
}

void PacketSim::wake_port_at(std::uint32_t id, Cycle at) {
  Port& port = net_.ports[id];
  if (port.wake_at >= 0 && port.wake_at <= at) return;
  port.wake_at = at;
  wheel_.push(at, Event::of(EventKind::WakePort, id));
}

std::int32_t PacketSim::head_flits(const Port& port, unsigned vl) const {
  const std::uint32_t head = net_.port_queues[port.first_queue + vl].head;
  if (!port.host_side) return packets_[head].flits;
  const Message& message = messages_[head];
  const std::int32_t mtu =
      net_.plane.sl_mtu[message.sl] > 0 ? net_.plane.sl_mtu[message.sl] : net_.plane.max_packet;
  return std::min(mtu, message.to_send);
}

void PacketSim::transmit(std::uint32_t id) {
  Port& port = net_.ports[id];
  if (port.ready == 0 || port.free_at > now()) return;
  if (!net_.links[id].up) return;
  HeadFlits heads;
  LaneMask eligible = 0;
  Cycle earliest = never;
  for (LaneMask left = port.ready; left != 0; left &= left - 1) {
    const auto vl = static_cast<unsigned>(std::countr_zero(left));
    heads[vl] = head_flits(port, vl);
    const std::int32_t missing = heads[vl] - net_.pools.room(port.room, vl, now());
    if (missing <= 0) {
      eligible |= LaneMask{1} << vl;
    } else {
      earliest = std::min(earliest, net_.pools.when(port.room, vl, missing, now()));
      if (!net_.lane_counts.empty()) begin_lane_stall(id, vl);
    }
  }
  // None also if the eligible ones are in no table: they wait for good, or for their lifetime.
  const std::optional<unsigned> vl = eligible == 0 ? std::nullopt : choose(id, eligible, heads);
  if (!vl) {
    if (port.stalled_since < 0) port.stalled_since = now();
    port.credit_wait = true;
    if (earliest != never) wake_port_at(id, earliest);
    return;
  }
  if (port.stalled_since >= 0) {
    net_.counts[id].stalled += static_cast<std::uint64_t>(now() - port.stalled_since);
    port.stalled_since = -1;
  }
  put_on_link(id, *vl);
}

/// The scheduler sees VLs at an InfiniBand switch or host, SLs at an Omni-Path-like one.
std::optional<unsigned> PacketSim::choose(std::uint32_t id, LaneMask eligible, const HeadFlits& heads) {
  const Port& port = net_.ports[id];
  Scheduler& scheduler = port.host_side ? host_scheduler_ : switch_scheduler_;
  if (net_.plane.model == SwitchModel::InfiniBand) return scheduler.pick(port.scheduled_as, eligible, heads);
  LaneMask active = 0;
  HeadFlits by_sl;
  std::array<std::uint8_t, 32> vl_of_sl;
  for (LaneMask left = eligible; left != 0; left &= left - 1) {
    const auto vl = static_cast<unsigned>(std::countr_zero(left));
    const std::uint32_t head = net_.port_queues[port.first_queue + vl].head;
    const std::uint8_t sl = port.host_side ? messages_[head].sl : packets_[head].sl;
    if ((active >> sl & 1U) != 0) continue;  // of two VLs that carry one SL the lower goes first
    active |= LaneMask{1} << sl;
    by_sl[sl] = heads[vl];
    vl_of_sl[sl] = static_cast<std::uint8_t>(vl);
  }
  const auto sl = scheduler.pick(port.scheduled_as, active, by_sl);
  if (!sl) return std::nullopt;
  return vl_of_sl[*sl];
}

void PacketSim::put_on_link(std::uint32_t id, unsigned vl) {
  Port& port = net_.ports[id];
  PortQueue& queue = net_.port_queues[port.first_queue + vl];
  std::uint32_t packet_id = 0;
  if (port.host_side) {
    packet_id = make_packet(id, vl);
  } else {
    packet_id = queue.head;
    queue.head = packets_[packet_id].next;
    queue.since = now();
    if (queue.head == nothing) port.ready &= ~(LaneMask{1} << vl);
    watch_lifetime(id);
    const RampShape leaving{.flits = packets_[packet_id].flits, .stride = port.flit_cycles};
    net_.pools.give_ramp(port.pool, vl, leaving, now() + 1, now());
    for (const std::uint32_t output : port.outputs) {
      if (output != nothing && net_.outputs[output].room_wait) wake_output_at(output, now() + 1);
    }
  }
  Packet& packet = packets_[packet_id];
  packet.vl = static_cast<std::uint8_t>(vl);
  packet.port = id;
  packet.sent = now();
  net_.pools.take(port.room, vl, packet.flits);
  const Cycle length = static_cast<Cycle>(packet.flits) * port.flit_cycles;
  port.free_at = now() + length;
  if (port.ready != 0) wake_port_at(id, port.free_at);
  PortCount& count = net_.counts[id];
  ++count.packets;
  count.flits += static_cast<std::uint64_t>(packet.flits);
  if (!net_.lane_counts.empty()) {
    end_lane_stall(id, vl);
    LaneCount& lane = lane_of(id, vl);
    ++lane.packets;
    lane.flits += static_cast<std::uint64_t>(packet.flits);
  }

  const StageDelays& delays = net_.plane.delays;
  const Cycle arrival = now() + port.flight;
  packet.tail = arrival + length - port.flit_cycles;
  if (port.to_host) {
    const std::uint32_t data = credit_data(vl, {.flits = packet.flits, .stride = port.flit_cycles});
    wheel_.push(packet.tail, Event::of(EventKind::Deliver, packet_id, id));
    wheel_.push(arrival + delays.credit, Event::of(EventKind::Credit, port.room, data));
  } else {
    // The header waits at the far input until the rest can follow it through the crossbar without gaps.
    packet.place = port.far;
    const Cycle slack = length - port.flit_cycles - (packet.flits - 1);
    const Cycle at = arrival + delays.input + delays.routing + slack;
    if (port.abroad) {
      leave(packet_id, port.far, at);
    } else {
      wheel_.push(at, Event::of(EventKind::Header, packet_id, port.far));
    }
  }
}

/// To another part of the fabric.
void PacketSim::leave(std::uint32_t id, std::uint32_t input, Cycle at) {
  const std::uint8_t part = border_.division->of_switch[net_.inputs[input].at_switch];
  border_.to(part).packets.push_back({at, packets_[id]});
  border_.earliest = std::min(border_.earliest, at);
  packets_.drop(id);
}

void PacketSim::begin_lane_stall(std::uint32_t id, unsigned vl) {
  LaneCount& lane = lane_of(id, vl);
  if (lane.stalled_since < 0) lane.stalled_since = now();
}

void PacketSim::end_lane_stall(std::uint32_t id, unsigned vl) {
  LaneCount& lane = lane_of(id, vl);
  if (lane.stalled_since < 0) return;
  lane.stalled += static_cast<std::uint64_t>(now() - lane.stalled_since);
  lane.stalled_since = -1;
}

/// While anything waits at the head of its queue, its lifetime there runs (IBA 18.2.5.4, HOQLife), also while
/// another VL is sent; hosts have none.
void PacketSim::watch_lifetime(std::uint32_t id) {
  Port& port = net_.ports[id];
  if (net_.plane.head_lifetime == 0 || port.host_side || port.ready == 0 || port.lifetime_at >= 0) return;
  Cycle oldest = never;
  for (LaneMask left = port.ready; left != 0; left &= left - 1) {
    const auto vl = static_cast<unsigned>(std::countr_zero(left));
    oldest = std::min(oldest, net_.port_queues[port.first_queue + vl].since);
  }
  port.lifetime_at = oldest + net_.plane.head_lifetime;
  wheel_.push(port.lifetime_at, Event::of(EventKind::Lifetime, id));
}

void PacketSim::lifetime(std::uint32_t id) {
  Port& port = net_.ports[id];
  port.lifetime_at = -1;
  for (LaneMask left = port.ready; left != 0; left &= left - 1) {
    const auto vl = static_cast<unsigned>(std::countr_zero(left));
    const PortQueue& queue = net_.port_queues[port.first_queue + vl];
    if (now() - queue.since >= net_.plane.head_lifetime) discard_head(id, vl);
  }
  if (port.ready == 0 && port.stalled_since >= 0) {
    net_.counts[id].stalled += static_cast<std::uint64_t>(now() - port.stalled_since);
    port.stalled_since = -1;
  }
  watch_lifetime(id);
  ready_to_send(id);
}

void PacketSim::discard_head(std::uint32_t id, unsigned vl) {
  Port& port = net_.ports[id];
  PortQueue& queue = net_.port_queues[port.first_queue + vl];
  const std::uint32_t packet_id = queue.head;
  const Packet& packet = packets_[packet_id];
  queue.head = packet.next;
  queue.since = now();
  if (queue.head == nothing) port.ready &= ~(LaneMask{1} << vl);
  ++net_.counts[id].discards;
  if (!net_.links[id].up) ++net_.counts[id].inactive;
  if (!net_.lane_counts.empty()) end_lane_stall(id, vl);
  net_.pools.give(port.pool, vl, packet.flits);
  for (const std::uint32_t output : port.outputs) {
    if (output != nothing && net_.outputs[output].room_wait) wake_output_at(output, now());
  }
  drop(packet_id, totals_.discarded);
}

}  // namespace heddle::packet
