// What the next events, requests, grants and transmissions of this cycle will touch is fetched from memory
// while those before them are handled. On a fabric of thousands of hosts nothing else of a run takes as long
// as waiting for memory: what one cycle touches does not fit the processor's second cache, and no element is
// touched twice in a row. All of this may be left out: it changes no result.
//
// Addresses that follow from one another are followed in steps some positions apart, so that each has come
// when the next needs it.
#include <bit>

#include "sim/packet/packet_sim.h"

namespace heddle::packet {
namespace {

constexpr std::size_t far = 24;
constexpr std::size_t middle = 16;
constexpr std::size_t near = 8;

}  // namespace

void PacketSim::expect(Event event) const {
  const auto vls = static_cast<std::uint32_t>(net_.plane.vls);
  const std::uint32_t index = event.index();
  switch (event.kind()) {
    case EventKind::Header:
    case EventKind::Central:
      prefetch(packets_[index]);
      prefetch(net_.inputs[event.data]);
      prefetch(net_.input_queues[event.data * vls]);
      break;
    case EventKind::Stored:
      prefetch(packets_[index]);
      prefetch(net_.ports[event.data]);
      prefetch(net_.port_queues[event.data * vls]);
      break;
    case EventKind::Deliver:
      prefetch(packets_[index]);
      prefetch(net_.ports[event.data]);
      break;
    case EventKind::Credit:
      net_.pools.prefetch_pool(index);
      prefetch(net_.pool_owners[index]);
      break;
    case EventKind::WakeInput:
    case EventKind::LaneInput:
      prefetch(net_.inputs[index]);
      break;
    case EventKind::WakeOutput:
    case EventKind::LaneOutput:
      prefetch(net_.outputs[index]);
      break;
    case EventKind::WakePort:
    case EventKind::Lifetime:
      prefetch(net_.ports[index]);
      break;
    case EventKind::Inject:
      prefetch(messages_[index]);
      break;
    case EventKind::Generate:
      prefetch(sources_[index]);
      break;
  }
}

void PacketSim::expect_more(Event event) const {
  const std::uint32_t index = event.index();
  switch (event.kind()) {
    case EventKind::Header: {
      const Packet& packet = packets_[index];
      const Input& input = net_.inputs[event.data];
      const SwitchElement& at = net_.switches[input.at_switch];
      const auto row = net_.programming.forwarding.row(routing::SwitchIndex{at.row});
      if (packet.lid < row.size()) prefetch(row[packet.lid]);
      const Queue& queue = net_.input_queues[input.first_queue + packet.vl];
      if (queue.head != nothing) prefetch(packets_[queue.tail]);
      break;
    }
    case EventKind::Stored: {
      const Packet& packet = packets_[index];
      const PortQueue& queue = net_.port_queues[net_.ports[event.data].first_queue + packet.next_vl];
      if (queue.head != nothing) prefetch(packets_[queue.tail]);
      break;
    }
    case EventKind::Deliver:
      if (packets_[index].home == part_) prefetch(messages_[packets_[index].message]);
      break;
    case EventKind::Credit:
      if (net_.pool_owners[index].central) {
        prefetch(net_.outputs[net_.pool_owners[index].id]);
      } else {
        prefetch(net_.ports[net_.pool_owners[index].id]);
      }
      break;
    case EventKind::Generate:
      if (sources_[index].traffic != nothing) traffic_[sources_[index].traffic].expect(sources_[index].host);
      break;
    case EventKind::Inject:
      prefetch(net_.ports[net_.hosts[messages_[index].source].port]);
      break;
    case EventKind::WakeOutput:
    case EventKind::LaneOutput:
      if (net_.outputs[index].waited) prefetch(net_.waiters[net_.outputs[index].waiters]);
      break;
    default:
      break;
  }
}

void PacketSim::expect_requests(std::size_t position) const {
  const auto vls = static_cast<std::uint32_t>(net_.plane.vls);
  const std::size_t count = asking_.size();
  if (position + far + near < count) {
    prefetch(net_.inputs[asking_[position + far + near]]);
    prefetch(net_.input_queues[asking_[position + far + near] * vls]);
  }
  const auto first_head = [this](const Input& input) {
    if (input.ready == 0) return nothing;
    const std::uint32_t turn = input.ready & (~0U << input.next_vl);
    const int vl = std::countr_zero(turn != 0 ? turn : input.ready);
    return net_.input_queues[input.first_queue + static_cast<std::uint32_t>(vl)].head;
  };
  if (position + far < count) {
    const std::uint32_t head = first_head(net_.inputs[asking_[position + far]]);
    if (head != nothing) prefetch(packets_[head]);
  }
  if (position + middle < count) {
    const std::uint32_t head = first_head(net_.inputs[asking_[position + middle]]);
    if (head != nothing) prefetch(net_.outputs[packets_[head].output]);
  }
  if (position + near < count) {
    const std::uint32_t head = first_head(net_.inputs[asking_[position + near]]);
    if (head != nothing) net_.pools.prefetch_pool(net_.outputs[packets_[head].output].pool);
  }
}

void PacketSim::expect_grants(std::size_t position) const {
  const std::size_t count = asked_.size();
  if (position + far < count) prefetch(net_.outputs[asked_[position + far]]);
  if (position + middle < count) {
    const Output& output = net_.outputs[asked_[position + middle]];
    const auto vls = static_cast<std::uint32_t>(net_.plane.vls);
    prefetch(net_.inputs[output.best]);
    prefetch(net_.input_queues[output.best * vls]);
    net_.pools.prefetch_pool(output.pool);
  }
  if (position + near < count) {
    const Input& input = net_.inputs[net_.outputs[asked_[position + near]].best];
    prefetch(packets_[net_.input_queues[input.first_queue + input.request_vl].head]);
  }
}

void PacketSim::expect_transmissions(std::size_t position) const {
  const std::size_t count = sending_.size();
  if (position + middle < count) {
    const std::uint32_t id = sending_[position + middle];
    prefetch(net_.ports[id]);
    const auto vls = static_cast<std::uint32_t>(net_.plane.vls);
    prefetch(net_.port_queues[id * vls]);
    prefetch(net_.port_queues[id * vls + vls - 1]);
    prefetch(net_.counts[id]);
  }
  if (position + near < count) {
    const Port& port = net_.ports[sending_[position + near]];
    net_.pools.prefetch_pool(port.room);
    if (port.ready == 0) return;
    (port.host_side ? host_scheduler_ : switch_scheduler_).prefetch_port(port.scheduled_as);
    for (LaneMask left = port.ready; left != 0; left &= left - 1) {
      const std::uint32_t head =
          net_.port_queues[port.first_queue + static_cast<std::uint32_t>(std::countr_zero(left))].head;
      port.host_side ? prefetch(messages_[head]) : prefetch(packets_[head]);
    }
    if (!port.host_side) {
      net_.pools.prefetch_pool(port.pool);
      prefetch(net_.outputs[port.outputs[0]]);
    }
  }
}

}  // namespace heddle::packet
