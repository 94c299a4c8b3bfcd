#include "sim/host.h"

#include <fmt/format.h>

#include <charconv>
#include <optional>

#include "fabric/unique_names.h"

namespace heddle::sim {
namespace {

std::optional<NodeGuid> guid_in(std::string_view name) {
  const bool prefixed =
      name.starts_with("0x") || name.starts_with("H-") || name.starts_with("S-") || name.starts_with("R-");
  if (!prefixed) return std::nullopt;
  name.remove_prefix(2);
  std::uint64_t raw = 0;
  const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), raw, 16);
  if (error != std::errc{} || end != name.data() + name.size()) return std::nullopt;
  return NodeGuid{raw};
}

PortIndex usable_port(const Fabric& fabric, NodeIndex index) {
  const Node& node = fabric.node(index);
  if (node.type == NodeType::Switch) return node.first_port;
  for (unsigned p = 1; p <= node.port_count; ++p) {
    const PortIndex port{node.first_port.raw() + p};
    if (fabric.port(port).link != no_link) return port;
  }
  return no_port;
}

}  // namespace

Result<NodeIndex> find_named(const Fabric& fabric, std::string_view name) {
  if (const auto guid = guid_in(name)) {
    const NodeIndex node = fabric.find_node(*guid);
    if (node != no_node) return node;
  }
  for (std::uint32_t n = 0; n < fabric.nodes().size(); ++n) {
    if (fabric.node(NodeIndex{n}).description == name) return NodeIndex{n};
  }
  NodeIndex found = no_node;
  const auto parts = name_and_digits(name);
  for (std::uint32_t n = 0; parts && n < fabric.nodes().size(); ++n) {
    const Node& node = fabric.node(NodeIndex{n});
    if (node.description != parts->name || !parts->fit(node.guid)) continue;
    if (found != no_node) {
      return fail(ErrorCode::Conflict,
                  fmt::format("several nodes are called \"{}\": give more digits", name));
    }
    found = NodeIndex{n};
  }
  if (found != no_node) return found;
  return fail(ErrorCode::NotFound,
              fmt::format("no node is called \"{}\": give its description or its GUID as 0x...", name));
}

Result<PortIndex> find_host(const Fabric& fabric, std::string_view name) {
  if (name.empty()) {
    for (std::uint32_t n = 0; n < fabric.nodes().size(); ++n) {
      const Node& node = fabric.node(NodeIndex{n});
      if (node.type != NodeType::ChannelAdapter || node.aggregation) continue;
      const PortIndex port = usable_port(fabric, NodeIndex{n});
      if (port != no_port) return port;
    }
    return fail(ErrorCode::NotFound, "the fabric has no channel adapter with a cable to sit on");
  }
  const auto node = find_named(fabric, name);
  if (!node) return fail(node.error());
  const PortIndex port = usable_port(fabric, *node);
  if (port == no_port) {
    return fail(ErrorCode::Invalid, fmt::format("no port of \"{}\" has a cable: choose another node", name));
  }
  return port;
}

}  // namespace heddle::sim
