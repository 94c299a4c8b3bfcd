#include "fabric/sketch.h"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>
#include <utility>

namespace heddle::sketch {
namespace {

// Bit 57 marks an EUI-64 that no vendor gave out. The last byte is left to the port numbers.
constexpr std::uint64_t switch_guids = 0x0248'4501'0000'0000;
constexpr std::uint64_t host_guids = 0x0248'4502'0000'0000;

constexpr std::uint32_t mellanox_vendor = 0x2c9;
constexpr std::uint16_t quantum = 0xd2f0;
constexpr std::uint16_t connectx6 = 0x101b;

}  // namespace

Sketch::Sketch(LinkWidth width, LinkSpeed speed, unsigned switch_ports)
    : width_{width}, speed_{speed}, switch_ports_{switch_ports} {}

NodeIndex Sketch::add_switch(const std::string& name, unsigned used_ports) {
  Node node;
  node.guid = NodeGuid{switch_guids + (std::uint64_t{switches_++} << 8U)};
  node.type = NodeType::Switch;
  node.port_count = static_cast<std::uint8_t>(std::max(used_ports, switch_ports_));
  node.vendor_id = mellanox_vendor;
  node.device_id = quantum;
  node.system_image_guid = node.guid.raw();
  node.description = name;
  Port port0;
  port0.guid = PortGuid{node.guid.raw()};
  port0.state = PortState::Active;
  port0.physical = PhysState::LinkUp;
  const auto index = builder_.add_node(std::move(node));
  assert(index);
  (void)builder_.set_port(*index, port0);
  return *index;
}

NodeIndex Sketch::add_host(unsigned ports) {
  Node node;
  node.guid = NodeGuid{host_guids + (std::uint64_t{hosts_} << 8U)};
  node.port_count = static_cast<std::uint8_t>(ports);
  node.vendor_id = mellanox_vendor;
  node.device_id = connectx6;
  node.system_image_guid = node.guid.raw();
  node.description = fmt::format("host-{} mlx5_0", hosts_++);
  const std::uint64_t guid = node.guid.raw();
  const auto index = builder_.add_node(std::move(node));
  assert(index);
  for (unsigned p = 1; p <= ports; ++p) {
    Port port;
    port.num = PortNum{static_cast<std::uint8_t>(p)};
    port.guid = PortGuid{guid + p};
    (void)builder_.set_port(*index, port);
  }
  return *index;
}

void Sketch::cable(NodeIndex a, unsigned port_a, NodeIndex b, unsigned port_b) {
  const LinkEnd ends[] = {{a, PortNum{static_cast<std::uint8_t>(port_a)}},
                          {b, PortNum{static_cast<std::uint8_t>(port_b)}}};
  for (const LinkEnd& end : ends) {
    Port port = builder_.port(end.node, end.port);
    port.state = PortState::Init;
    port.physical = PhysState::LinkUp;
    (void)builder_.set_port(end.node, port);
  }
  [[maybe_unused]] const auto link = builder_.add_link(ends[0], ends[1], width_, speed_);
  assert(link);
}

std::shared_ptr<const Fabric> Sketch::finish() { return builder_.build(); }

Result<void> check_ports(const GeneratorSpec& spec, std::uint64_t used_ports) {
  if (used_ports > max_switch_ports) {
    return fail(ErrorCode::Invalid,
                fmt::format("a switch would need {} ports; {} is the most", used_ports, max_switch_ports));
  }
  if (spec.switch_ports != 0 && spec.switch_ports < used_ports) {
    return fail(ErrorCode::Invalid, fmt::format("ports={} is too few: a switch of this shape has {} cables",
                                                spec.switch_ports, used_ports));
  }
  return {};
}

Result<void> check_nodes(std::uint64_t nodes) {
  if (nodes <= max_nodes) return {};
  return fail(ErrorCode::Invalid, fmt::format("the shape has more than {} nodes", max_nodes));
}

}  // namespace heddle::sketch
