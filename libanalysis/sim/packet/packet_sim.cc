#include "sim/packet/packet_sim.h"

#include <algorithm>

namespace heddle::packet {

Result<PacketSim> PacketSim::make(Network network) {
  PacketSim sim{std::make_shared<Network>(std::move(network))};
  if (auto ok = sim.add_schedulers(); !ok) return fail(ok.error());
  return sim;
}

Result<PacketSim> PacketSim::make_part(std::shared_ptr<Network> network,
                                       std::shared_ptr<const Division> division, std::uint8_t part) {
  PacketSim sim{std::move(network)};
  for (auto& turn : sim.border_.turns) turn.resize(division->parts);
  sim.border_.division = std::move(division);
  sim.part_ = part;
  sim.serials_ = part;
  if (auto ok = sim.add_schedulers(); !ok) return fail(ok.error());
  return sim;
}

PacketSim::PacketSim(std::shared_ptr<Network> network) : shared_{std::move(network)}, net_{*shared_} {}

Result<void> PacketSim::add_schedulers() {
  auto of_switches = Scheduler::make(net_.plane.switch_scheduler, net_.plane.flit_bytes);
  if (!of_switches) return fail("switch_scheduler", of_switches.error());
  auto of_hosts = Scheduler::make(net_.plane.host_scheduler, net_.plane.flit_bytes);
  if (!of_hosts) return fail("host_scheduler", of_hosts.error());
  switch_scheduler_ = std::move(*of_switches);
  host_scheduler_ = std::move(*of_hosts);
  for (std::uint32_t id = 0; id < net_.ports.size(); ++id) {
    Port& port = net_.ports[id];
    if (here(id)) port.scheduled_as = (port.host_side ? host_scheduler_ : switch_scheduler_).add_port();
  }
  return {};
}

void PacketSim::run_window(Cycle end) {
  while (wheel_.next() < end) {
    wheel_.advance(wheel_.next());
    cycle();
  }
}

void PacketSim::run_until(Cycle end) {
  run_window(end);
  if (end > wheel_.now()) wheel_.advance(end);
}

Cycle PacketSim::run_until_idle(Cycle end) {
  run_window(end);
  return wheel_.now();
}

void PacketSim::cycle() {
  wheel_.drain([this](Event event) { handle(event); }, [this](Event event) { expect(event); },
               [this](Event event) { expect_more(event); });
  if (!asking_.empty()) allocate();
  for (std::size_t i = 0; i < sending_.size(); ++i) {
    expect_transmissions(i);
    net_.ports[sending_[i]].queued = false;
    transmit(sending_[i]);
  }
  sending_.clear();
}

void PacketSim::handle(Event event) {
  ++totals_.events;
  const std::uint32_t index = event.index();
  const Cycle now = wheel_.now();
  switch (event.kind()) {
    case EventKind::Header:
      header(index);
      break;
    case EventKind::Central:
      enqueue(index, packets_[index].place);
      break;
    case EventKind::Stored:
      stored(index);
      break;
    case EventKind::Credit:
      credit(index, event.data);
      break;
    case EventKind::WakeInput:
      if (net_.inputs[index].wake_at != now) break;
      net_.inputs[index].wake_at = -1;
      ask(index);
      break;
    case EventKind::WakeOutput:
      if (net_.outputs[index].wake_at != now) break;
      net_.outputs[index].wake_at = -1;
      wake_waiters(index);
      break;
    case EventKind::WakePort:
      if (net_.ports[index].wake_at != now) break;
      net_.ports[index].wake_at = -1;
      ready_to_send(index);
      break;
    case EventKind::LaneInput:
      --net_.inputs[index].busy;
      ask(index);
      break;
    case EventKind::LaneOutput:
      --net_.outputs[index].busy;
      wake_waiters(index);
      break;
    case EventKind::Deliver:
      deliver(index);
      break;
    case EventKind::Generate:
      generate(index);
      break;
    case EventKind::Inject:
      inject(index);
      break;
    case EventKind::Lifetime:
      lifetime(index);
      break;
  }
}

void PacketSim::start_measuring() {
  measurements_ = Measurements{};
  measurements_.since = now();
  for (std::uint32_t id = 0; id < net_.ports.size(); ++id) {
    if (!here(id)) continue;
    net_.counts[id] = {};
    if (net_.ports[id].stalled_since >= 0) net_.ports[id].stalled_since = now();
  }
}

PortCount PacketSim::count(PortIndex slot) const {
  const std::uint32_t port = net_.port_of_slot[slot.raw()];
  if (port == nothing) return {};
  PortCount count = net_.counts[port];
  if (net_.ports[port].stalled_since >= 0) {
    count.stalled += static_cast<std::uint64_t>(now() - net_.ports[port].stalled_since);
  }
  return count;
}

LaneCount PacketSim::lane_count(PortIndex slot, unsigned vl) const {
  const std::uint32_t port = net_.port_of_slot[slot.raw()];
  if (port == nothing || vl >= static_cast<unsigned>(net_.plane.vls)) return {};
  LaneCount count = net_.lane_counts[std::size_t{port} * static_cast<unsigned>(net_.plane.vls) + vl];
  if (count.stalled_since >= 0) count.stalled += static_cast<std::uint64_t>(now() - count.stalled_since);
  return count;
}

std::int64_t PacketSim::queued_flits(PortIndex slot, unsigned vl) {
  const std::uint32_t id = net_.port_of_slot[slot.raw()];
  if (id == nothing || vl >= static_cast<unsigned>(net_.plane.vls)) return 0;
  const Port& port = net_.ports[id];
  if (!port.host_side) {
    if (port.pool == nothing) return 0;
    net_.pools.settle(port.pool, now());
    return net_.pools.used(port.pool, vl);
  }
  std::int64_t sum = 0;
  for (std::uint32_t m = net_.port_queues[port.first_queue + vl].head; m != nothing; m = messages_[m].next) {
    sum += messages_[m].to_send;
  }
  return sum;
}

void PacketSim::take_in(PacketSim& from, unsigned turn) {
  Mail& mail = from.border_.turns[turn][part_];
  for (const Mail::Leaving& arriving : mail.packets) {
    const std::uint32_t id = packets_.make();
    packets_[id] = arriving.packet;
    wheel_.push(arriving.at, Event::of(EventKind::Header, id, arriving.packet.place));
  }
  for (const Mail::Room& room : mail.room)
    wheel_.push(room.at, Event::of(EventKind::Credit, room.pool, room.data));
  for (const Mail::Ended& ended : mail.ended) settle_message(ended);
  mail.clear();
}

void PacketSim::set_arbitration(PortIndex slot, const qos::VlArbitration& tables) {
  const std::uint32_t id = net_.port_of_slot[slot.raw()];
  if (id == nothing) return;
  Port& port = net_.ports[id];
  (port.host_side ? host_scheduler_ : switch_scheduler_).set_tables(port.scheduled_as, tables);
  if (port.ready != 0) wake_port_at(id, now());
}

}  // namespace heddle::packet
