#include "fabric/fabric.h"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>
#include <utility>

namespace heddle {

std::string_view to_string(NodeType type) {
  switch (type) {
    case NodeType::ChannelAdapter:
      return "channel adapter";
    case NodeType::Switch:
      return "switch";
    case NodeType::Router:
      return "router";
  }
  return "unknown";
}

std::string_view to_string(PortState state) {
  switch (state) {
    case PortState::NoChange:
      return "No change";
    case PortState::Down:
      return "Down";
    case PortState::Init:
      return "Init";
    case PortState::Armed:
      return "Armed";
    case PortState::Active:
      return "Active";
  }
  return "unknown";
}

std::string_view to_string(PhysState state) {
  switch (state) {
    case PhysState::NoChange:
      return "No change";
    case PhysState::Sleep:
      return "Sleep";
    case PhysState::Polling:
      return "Polling";
    case PhysState::Disabled:
      return "Disabled";
    case PhysState::Training:
      return "Training";
    case PhysState::LinkUp:
      return "LinkUp";
    case PhysState::ErrorRecovery:
      return "ErrorRecovery";
    case PhysState::PhyTest:
      return "PhyTest";
  }
  return "unknown";
}

std::optional<LinkEnd> Fabric::peer(LinkEnd end) const {
  const LinkIndex index = port(end).link;
  if (index == no_link) return std::nullopt;
  const Link& cable = link(index);
  return cable.a == end ? cable.b : cable.a;
}

NodeIndex Fabric::find_node(NodeGuid guid) const {
  const auto it = by_guid_.find(guid);
  return it == by_guid_.end() ? no_node : it->second;
}

PortIndex Fabric::find_port(const PortRef& ref) const {
  const NodeIndex index = find_node(ref.node);
  if (index == no_node || ref.port.raw() > node(index).port_count) return no_port;
  return port_index(index, ref.port);
}

PortIndex Fabric::find_port(PortGuid guid) const {
  const auto it = by_port_guid_.find(guid);
  return it == by_port_guid_.end() ? no_port : it->second;
}

PortIndex Fabric::find_port(Lid lid) const {
  return lid.raw() < by_lid_.size() ? by_lid_[lid.raw()] : no_port;
}

void FabricBuilder::expect(std::size_t nodes, std::size_t ports, std::size_t links) {
  fabric_->nodes_.reserve(nodes);
  fabric_->by_guid_.reserve(nodes);
  fabric_->ports_.reserve(ports);
  fabric_->links_.reserve(links);
}

Result<NodeIndex> FabricBuilder::add_node(Node node) {
  auto& nodes = fabric_->nodes_;
  if (node.port_count == 255) {
    return fail(ErrorCode::Invalid,
                fmt::format("node {} has 255 ports; 254 is the most", to_string(node.guid)));
  }
  const NodeIndex index{static_cast<std::uint32_t>(nodes.size())};
  if (!fabric_->by_guid_.emplace(node.guid, index).second) {
    return fail(ErrorCode::Conflict, fmt::format("two nodes have the GUID {}", to_string(node.guid)));
  }
  node.first_port = PortIndex{static_cast<std::uint32_t>(fabric_->ports_.size())};
  for (unsigned p = 0; p <= node.port_count; ++p) {
    Port port;
    port.node = index;
    port.num = PortNum{static_cast<std::uint8_t>(p)};
    fabric_->ports_.push_back(port);
  }
  if (node.type == NodeType::Switch) {
    ++fabric_->switch_count_;
    Port& port0 = fabric_->ports_[node.first_port.raw()];
    port0.state = PortState::Active;
    port0.physical = PhysState::LinkUp;
  } else if (node.type == NodeType::Router) {
    ++fabric_->router_count_;
  }
  nodes.push_back(std::move(node));
  return index;
}

Result<PortIndex> FabricBuilder::checked(NodeIndex node, PortNum port) const {
  const Node& owner = fabric_->nodes_[node.raw()];
  if (port.raw() > owner.port_count) {
    return fail(ErrorCode::Invalid, fmt::format("port {} of \"{}\" ({}), which has {} ports", port.raw(),
                                                owner.description, to_string(owner.guid), owner.port_count));
  }
  return PortIndex{owner.first_port.raw() + port.raw()};
}

Result<void> FabricBuilder::set_port(NodeIndex node, const Port& port) {
  const auto index = checked(node, port.num);
  if (!index) return fail(index.error());
  Port& slot = fabric_->ports_[index->raw()];
  const LinkIndex link = slot.link;
  slot = port;
  slot.node = node;
  slot.link = link;
  return {};
}

Result<LinkIndex> FabricBuilder::add_link(LinkEnd a, LinkEnd b, LinkWidth width, LinkSpeed speed) {
  if (b < a) std::swap(a, b);
  const LinkIndex index{static_cast<std::uint32_t>(fabric_->links_.size())};
  for (const LinkEnd& end : {a, b}) {
    const auto slot = checked(end.node, end.port);
    if (!slot) return fail(slot.error());
    if (end.port == PortNum{0}) {
      const Node& owner = fabric_->nodes_[end.node.raw()];
      return fail(ErrorCode::Invalid, fmt::format("a cable at port 0 of \"{}\" ({}), which has no socket",
                                                  owner.description, to_string(owner.guid)));
    }
    const Port& port = fabric_->ports_[slot->raw()];
    if (port.link != no_link || a == b) {
      const Node& owner = fabric_->nodes_[end.node.raw()];
      return fail(ErrorCode::Conflict, fmt::format("port {} of \"{}\" ({}) has two cables", end.port.raw(),
                                                   owner.description, to_string(owner.guid)));
    }
  }
  for (const LinkEnd& end : {a, b}) {
    Port& port = fabric_->ports_[fabric_->port_index(end).raw()];
    port.link = index;
    if (port.width == LinkWidth::None) port.width = width;
    if (port.speed == LinkSpeed::None) port.speed = speed;
    if (port.state == PortState::Down && port.physical == PhysState::Polling) {
      port.state = PortState::Active;
      port.physical = PhysState::LinkUp;
    }
  }
  fabric_->links_.push_back(Link{a, b, width, speed});
  return index;
}

NodeIndex FabricBuilder::find_node(NodeGuid guid) const { return fabric_->find_node(guid); }

const Port& FabricBuilder::port(NodeIndex node, PortNum port) const {
  return fabric_->ports_[fabric_->port_index(node, port).raw()];
}

std::shared_ptr<const Fabric> FabricBuilder::build(std::uint64_t epoch) {
  Fabric& fabric = *fabric_;
  fabric.epoch_ = epoch;
  const auto by_end = [](const Link& x, const Link& y) { return x.a < y.a; };
  if (!std::ranges::is_sorted(fabric.links_, by_end)) std::ranges::sort(fabric.links_, by_end);
  for (std::uint32_t i = 0; i < fabric.links_.size(); ++i) {
    for (const LinkEnd& end : {fabric.links_[i].a, fabric.links_[i].b}) {
      fabric.ports_[fabric.port_index(end).raw()].link = LinkIndex{i};
    }
  }
  fabric.by_port_guid_.reserve(fabric.nodes_.size());
  for (std::uint32_t i = 0; i < fabric.ports_.size(); ++i) {
    const Port& port = fabric.ports_[i];
    if (port.guid != PortGuid{}) fabric.by_port_guid_.emplace(port.guid, PortIndex{i});
    if (port.lid == no_lid || last_unicast_lid < port.lid) continue;
    const std::size_t last = port.lid.raw() + (std::size_t{1} << port.lmc);
    if (fabric.by_lid_.size() < last) fabric.by_lid_.resize(last, no_port);
    for (std::size_t lid = port.lid.raw(); lid < last; ++lid) {
      if (fabric.by_lid_[lid] == no_port) fabric.by_lid_[lid] = PortIndex{i};
    }
  }
  return std::exchange(fabric_, std::shared_ptr<Fabric>(new Fabric));
}

}  // namespace heddle
