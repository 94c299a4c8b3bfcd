/// A small fabric to simulate, and a client that asks it.
///
///   H0 -1- [1 S0 3] - [3 S1 1] -1- H1
///   H2 -1- [2 S0 4] - [4 S1 2] -1- H3
#pragma once

#include <gtest/gtest.h>

#include <deque>
#include <vector>

#include "fabric/fabric.h"
#include "mad/attributes.h"
#include "mad/counters.h"
#include "mad/header.h"
#include "sim/bring_up.h"
#include "sim/simulated_fabric.h"

namespace heddle::sim {

using namespace std::chrono_literals;

inline std::shared_ptr<const Fabric> two_switches() {
  FabricBuilder builder;
  const auto add = [&](std::uint64_t guid, NodeType type, std::uint8_t ports, const char* name) {
    Node node;
    node.guid = NodeGuid{guid};
    node.type = type;
    node.port_count = ports;
    node.description = name;
    node.vendor_id = 0x2c9;
    node.device_id = 0x1003;
    return builder.add_node(node).value();
  };
  const NodeIndex s0 = add(0x100, NodeType::Switch, 8, "S0");
  const NodeIndex s1 = add(0x200, NodeType::Switch, 8, "S1");
  const auto link = [&](NodeIndex a, std::uint8_t pa, NodeIndex b, std::uint8_t pb) {
    EXPECT_TRUE(
        builder.add_link({a, PortNum{pa}}, {b, PortNum{pb}}, LinkWidth::X4, LinkSpeed::Qdr).has_value());
  };
  link(s0, 1, add(0x10, NodeType::ChannelAdapter, 1, "H0"), 1);
  link(s1, 1, add(0x20, NodeType::ChannelAdapter, 1, "H1"), 1);
  link(s0, 2, add(0x30, NodeType::ChannelAdapter, 1, "H2"), 1);
  link(s1, 2, add(0x40, NodeType::ChannelAdapter, 1, "H3"), 1);
  link(s0, 3, s1, 3);
  link(s0, 4, s1, 4);
  return builder.build();
}

class SimTest : public testing::Test {
 protected:
  explicit SimTest(const Options& options = {}) { start(options); }

  void start(const Options& options) {
    inbox.clear();
    fabric = std::make_unique<SimulatedFabric>(two_switches(), options);
    client = attach(port(0x10, 1));
  }

  ClientId attach(PortIndex at) {
    return fabric
        ->attach(at,
                 [this](const mad::Packet& packet, Picoseconds when) {
                   inbox.push_back({packet, when});
                 })
        .value();
  }

  [[nodiscard]] PortIndex port(std::uint64_t guid, std::uint8_t num) const {
    return fabric->description().find_port(PortRef{NodeGuid{guid}, PortNum{num}});
  }
  [[nodiscard]] NodeIndex node(std::uint64_t guid) const {
    return fabric->description().find_node(NodeGuid{guid});
  }
  [[nodiscard]] LinkIndex link(std::uint64_t guid, std::uint8_t num) const {
    return fabric->description().port(port(guid, num)).link;
  }
  [[nodiscard]] Lid lid(std::uint64_t guid, std::uint8_t num) const {
    return fabric->port_info(port(guid, num)).lid;
  }

  /// The common part of a request.
  static mad::Packet request(mad::MgmtClass mgmt_class, mad::Method method, std::uint16_t attribute,
                             std::uint32_t modifier) {
    mad::Packet packet;
    mad::Header header;
    header.mgmt_class = mgmt_class;
    header.method = method;
    header.attribute = attribute;
    header.modifier = modifier;
    header.tid = 0x11223344;
    mad::write_header(header, packet.mad);
    return packet;
  }

  static mad::Packet directed(const std::vector<std::uint8_t>& hops, mad::Method method,
                              mad::SmAttr attribute, std::uint32_t modifier = 0) {
    mad::Packet packet =
        request(mad::MgmtClass::SubnDirected, method, static_cast<std::uint16_t>(attribute), modifier);
    mad::DirectedRoute route;
    route.hop_count = static_cast<std::uint8_t>(hops.size());
    for (std::size_t i = 0; i < hops.size(); ++i) route.initial_path[i + 1] = PortNum{hops[i]};
    mad::write_directed_route(route, packet.mad);
    return packet;
  }

  static mad::Packet to_lid(Lid to, mad::Method method, mad::SmAttr attribute, std::uint32_t modifier = 0) {
    mad::Packet packet =
        request(mad::MgmtClass::SubnLid, method, static_cast<std::uint16_t>(attribute), modifier);
    packet.address.dlid = to;
    packet.address.slid = no_lid;
    return packet;
  }

  static mad::Packet perf(Lid to, mad::Method method, mad::PmAttr attribute, std::uint8_t port_select = 0) {
    mad::Packet packet = request(mad::MgmtClass::Perf, method, static_cast<std::uint16_t>(attribute), 0);
    packet.address.dlid = to;
    packet.address.slid = no_lid;
    packet.address.dqp = packet.address.sqp = mad::gsi_qp;
    packet.mad[mad::gmp_data_offset + 1] = port_select;
    return packet;
  }

  /// Sends, and gives the answer that comes back at once, if one does.
  std::optional<mad::Packet> ask(const mad::Packet& packet) { return ask(client, packet); }
  std::optional<mad::Packet> ask(ClientId from, const mad::Packet& packet) {
    inbox.clear();
    fabric->send(now, from, packet);
    fabric->advance(now);
    for (const Received& received : inbox) {
      if (mad::is_response(mad::read_header(received.packet.mad).method)) return received.packet;
    }
    return std::nullopt;
  }

  template <class T>
  std::optional<T> get(const std::vector<std::uint8_t>& hops, mad::SmAttr attribute,
                       std::uint32_t modifier = 0) {
    const auto answer = ask(directed(hops, mad::Method::Get, attribute, modifier));
    if (!answer || mad::read_header(answer->mad).status != mad::status::ok) return std::nullopt;
    return mad::decode<T>(mad::smp_data(answer->mad));
  }

  /// The status, or nothing if no answer came.
  template <class T>
  std::optional<std::uint16_t> set(const std::vector<std::uint8_t>& hops, mad::SmAttr attribute,
                                   std::uint32_t modifier, const T& value) {
    mad::Packet packet = directed(hops, mad::Method::Set, attribute, modifier);
    mad::encode(value, mad::smp_data(packet.mad));
    const auto answer = ask(packet);
    if (!answer) return std::nullopt;
    return mad::read_header(answer->mad).status;
  }

  /// A Set as regulation does it: what is there, with nothing asked of the link but this.
  std::optional<std::uint16_t> set_port(const std::vector<std::uint8_t>& hops, std::uint8_t num,
                                        PortState state, PhysState physical) {
    auto info = get<mad::PortInfo>(hops, mad::SmAttr::PortInfo, num);
    if (!info) return std::nullopt;
    info->state = state;
    info->physical = physical;
    return set(hops, mad::SmAttr::PortInfo, num, *info);
  }

  [[nodiscard]] PortState state(std::uint64_t guid, std::uint8_t num) const {
    return fabric->port_info(port(guid, num)).state;
  }
  [[nodiscard]] PhysState physical(std::uint64_t guid, std::uint8_t num) const {
    return fabric->port_info(port(guid, num)).physical;
  }

  void pass(Picoseconds span) {
    now += span;
    fabric->advance(now);
  }

  struct Received {
    mad::Packet packet;
    Picoseconds at{0};
  };

  std::unique_ptr<SimulatedFabric> fabric;
  ClientId client;
  std::deque<Received> inbox;
  Picoseconds now{0};
};

}  // namespace heddle::sim
