#include "fabric/grown_site.h"

#include <algorithm>
#include <array>
#include <cassert>
#include <numeric>
#include <utility>

namespace heddle::sketch {
namespace {

constexpr std::uint32_t mellanox = 0x2c9;
constexpr std::uint16_t aggregation_device = 0xcf09;

// Bit 57 marks an EUI-64 that no vendor gave out. Sketch counts in the third byte from 1 and 2.
constexpr std::uint64_t grown_guids = 0x0248'4503'0000'0000;
// Odd, so that counting by it meets every one of the 2^24 GUIDs once: in no order, and none twice.
constexpr std::uint32_t stride = 0x9e'3779;

constexpr std::array all_generations{
    Generation{LinkSpeed::Qdr, 36, false, 0xbd36, 0x673c, "Infiniscale-IV Mellanox Technologies",
               "MT25408 ConnectX Mellanox Technologies"},
    Generation{LinkSpeed::Fdr, 36, false, 0xc738, 0x1003, "SwitchX -  Mellanox Technologies",
               "MT25408 ConnectX Mellanox Technologies"},
    Generation{LinkSpeed::Edr, 36, false, 0xcb20, 0x1013, "SwitchIB Mellanox Technologies",
               "MT4115 ConnectX4 Mellanox Technologies"},
    Generation{LinkSpeed::Hdr, 40, true, 0xd2f0, 0x101b, "Quantum Mellanox Technologies",
               "MT4123 ConnectX6 Mellanox Technologies"},
    Generation{LinkSpeed::Ndr, 64, true, 0xd2f2, 0x1021, "Quantum-2 Mellanox Technologies",
               "MT4129 ConnectX7 Mellanox Technologies"},
};

/// Which part of the site a node is in, by path halving.
class Parts {
 public:
  explicit Parts(std::size_t nodes) : above_(nodes) { std::iota(above_.begin(), above_.end(), 0U); }
  std::size_t of(std::size_t node) {
    while (above_[node] != node) node = above_[node] = above_[above_[node]];
    return node;
  }
  /// False if they were in one part already.
  bool join(std::size_t a, std::size_t b) {
    const std::size_t x = of(a);
    const std::size_t y = of(b);
    above_[x] = y;
    return x != y;
  }

 private:
  std::vector<std::size_t> above_;
};

}  // namespace

std::span<const Generation> generations() { return all_generations; }

std::uint64_t Site::draw_guid() {
  const std::uint32_t place = (++guids_ * stride) & 0xff'ffffU;
  return grown_guids + (std::uint64_t{place} << 4U);
}

Site::Place Site::add_switch(const Generation& generation, std::string name, std::uint64_t chassis) {
  Device device;
  device.speed = generation.speed;
  device.ports = generation.radix;
  device.node.guid = NodeGuid{draw_guid()};
  device.node.type = NodeType::Switch;
  device.node.port_count = static_cast<std::uint8_t>(generation.radix + (generation.aggregates ? 1 : 0));
  device.node.enhanced_port0 = generation.aggregates;
  device.node.vendor_id = mellanox;
  device.node.device_id = generation.chip_id;
  device.node.system_image_guid = chassis;
  device.node.description = std::move(name);
  const Place place = devices_.size();
  devices_.push_back(std::move(device));
  if (!generation.aggregates) return place;
  const Place inside = add_host(generation, "Mellanox Technologies Aggregation Node");
  Node& aggregator = devices_[inside].node;
  aggregator.aggregation = true;
  aggregator.device_id = aggregation_device;
  aggregator.system_image_guid = chassis;
  cables_.push_back({place, generation.radix + 1, inside, ++devices_[inside].used});
  return place;
}

Site::Place Site::add_host(const Generation& generation, std::string name, unsigned ports) {
  Device device;
  device.speed = generation.speed;
  device.ports = ports;
  device.node.guid = NodeGuid{draw_guid()};
  device.node.port_count = static_cast<std::uint8_t>(ports);
  device.node.vendor_id = mellanox;
  device.node.device_id = generation.adapter_id;
  device.node.system_image_guid = device.node.guid.raw();
  device.node.description = std::move(name);
  devices_.push_back(std::move(device));
  return devices_.size() - 1;
}

unsigned Site::free_ports(Place node) const { return devices_[node].ports - devices_[node].used; }

bool Site::cable(Place a, Place b) {
  if (a == b || free_ports(a) == 0 || free_ports(b) == 0) return false;
  const unsigned port_a = ++devices_[a].used;
  const unsigned port_b = ++devices_[b].used;
  cables_.push_back({a, port_a, b, port_b});
  return true;
}

bool Site::between_switches(const Cable& cable) const {
  return devices_[cable.a].node.type == NodeType::Switch && devices_[cable.b].node.type == NodeType::Switch;
}

void Site::lose_cables(double share) {
  std::vector<Cable*> chosen;
  Parts parts{devices_.size()};
  for (Cable& cable : cables_) {
    if (between_switches(cable) && random_.chance(share)) {
      chosen.push_back(&cable);
    } else {
      parts.join(cable.a, cable.b);
    }
  }
  for (Cable* cable : chosen) cable->lost = !parts.join(cable->a, cable->b);
}

bool Site::join_parts() {
  Parts parts{devices_.size()};
  for (const Cable& cable : cables_) {
    if (!cable.lost) parts.join(cable.a, cable.b);
  }
  const auto joined = [&](Place node) { return parts.of(node) == parts.of(0); };
  const auto is_switch = [&](Place node) { return devices_[node].node.type == NodeType::Switch; };
  bool whole = true;
  for (Place node = 0; node < devices_.size(); ++node) {
    if (joined(node) || free_ports(node) == 0) continue;
    Place hub = 0;
    while (hub < devices_.size() && (!is_switch(hub) || free_ports(hub) == 0 || !joined(hub))) ++hub;
    if (hub == devices_.size()) return false;
    cable(hub, node);
    parts.join(hub, node);
  }
  for (Place node = 0; node < devices_.size(); ++node) whole = whole && joined(node);
  return whole;
}

void Site::lay(FabricBuilder& builder, const Cable& cable, std::span<const NodeIndex> places) const {
  const LinkEnd ends[] = {{places[cable.a], PortNum{static_cast<std::uint8_t>(cable.port_a)}},
                          {places[cable.b], PortNum{static_cast<std::uint8_t>(cable.port_b)}}};
  for (const LinkEnd& end : ends) {
    Port port = builder.port(end.node, end.port);
    port.state = PortState::Init;
    port.physical = PhysState::LinkUp;
    (void)builder.set_port(end.node, port);
  }
  [[maybe_unused]] const auto link = builder.add_link(
      ends[0], ends[1], LinkWidth::X4, std::min(devices_[cable.a].speed, devices_[cable.b].speed));
  assert(link);
}

std::shared_ptr<const Fabric> Site::finish() {
  std::vector<Place> order(devices_.size());
  std::iota(order.begin(), order.end(), 0U);
  random_.shuffle(order);
  std::stable_partition(order.begin(), order.end(),
                        [&](Place p) { return devices_[p].node.type == NodeType::Switch; });
  FabricBuilder builder;
  std::vector<NodeIndex> places(devices_.size());
  for (const Place place : order) {
    const Node& node = devices_[place].node;
    const auto index = builder.add_node(node);
    assert(index);
    places[place] = *index;
    const bool is_switch = node.type == NodeType::Switch;
    for (unsigned p = is_switch ? 0 : 1; p <= (is_switch ? 0U : node.port_count); ++p) {
      Port port = builder.port(*index, PortNum{static_cast<std::uint8_t>(p)});
      port.guid = PortGuid{node.guid.raw() + p};
      (void)builder.set_port(*index, port);
    }
  }
  for (const Cable& cable : cables_) {
    if (!cable.lost) lay(builder, cable, places);
  }
  return builder.build();
}

}  // namespace heddle::sketch
