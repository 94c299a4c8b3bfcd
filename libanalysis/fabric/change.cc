#include "fabric/change.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <utility>

#include "fabric/unique_names.h"

namespace heddle {
namespace {

PortStatus status(const Port& port) {
  return {port.state, port.physical, port.width, port.speed, port.lid, port.lmc};
}

/// The node of the other snapshot, if it is the same with as many ports.
NodeIndex counterpart(const Node& node, const Fabric& other) {
  const NodeIndex index = other.find_node(node.guid);
  if (index == no_node) return no_node;
  const Node& there = other.node(index);
  return there.port_count == node.port_count && there.type == node.type ? index : no_node;
}

std::vector<LinkRef> sorted_links(const Fabric& fabric) {
  std::vector<LinkRef> links;
  links.reserve(fabric.links().size());
  for (const Link& link : fabric.links()) links.push_back(link_ref(fabric, link));
  std::ranges::sort(links);
  return links;
}

std::vector<LinkRef> only_in_first(const std::vector<LinkRef>& first, const std::vector<LinkRef>& second) {
  std::vector<LinkRef> result;
  std::ranges::set_difference(first, second, std::back_inserter(result));
  return result;
}

/// Names nodes that one snapshot or both have.
class Names {
 public:
  Names(const Fabric& first, const Fabric& second, const NodeNames& names)
      : fabrics_{&first, &second}, names_{ShownNames{names, first}, ShownNames{names, second}} {}

  [[nodiscard]] std::string of(NodeGuid guid) const {
    for (std::size_t i = 0; i < fabrics_.size(); ++i) {
      const NodeIndex index = fabrics_[i]->find_node(guid);
      if (index != no_node) return names_[i].of(fabrics_[i]->node(index));
    }
    return to_string(guid);
  }
  [[nodiscard]] std::string of(const PortRef& port) const {
    return fmt::format("{}/{}", of(port.node), port.port.raw());
  }
  [[nodiscard]] std::string of(const LinkRef& link) const {
    return fmt::format("{} -- {}", of(link.a), of(link.b));
  }

 private:
  std::array<const Fabric*, 2> fabrics_;
  std::array<ShownNames, 2> names_;
};

std::string_view type_of(const Fabric& fabric, NodeGuid guid) {
  const NodeIndex index = fabric.find_node(guid);
  return index == no_node ? "node" : to_string(fabric.node(index).type);
}

std::string difference(const PortStatus& before, const PortStatus& after) {
  std::string text;
  const auto note = [&text](std::string_view what, const auto& x, const auto& y) {
    if (x != y) text += fmt::format("{}{} {} -> {}", text.empty() ? "" : ", ", what, x, y);
  };
  note("state", to_string(before.state), to_string(after.state));
  note("physical", to_string(before.physical), to_string(after.physical));
  note("width", to_string(before.width), to_string(after.width));
  note("speed", to_string(before.speed), to_string(after.speed));
  note("LID", before.lid.raw(), after.lid.raw());
  note("LMC", before.lmc, after.lmc);
  return text;
}

}  // namespace

LinkRef link_ref(const Fabric& fabric, const Link& link) {
  const auto [a, b] = std::minmax({fabric.ref(link.a), fabric.ref(link.b)});
  return {a, b};
}

bool FabricChange::empty() const { return *this == FabricChange{}; }

FabricChange compare(const Fabric& before, const Fabric& after) {
  FabricChange change;
  for (const Node& node : after.nodes()) {
    if (counterpart(node, before) == no_node) change.nodes_added.push_back(node.guid);
  }
  for (const Node& node : before.nodes()) {
    const NodeIndex same = counterpart(node, after);
    if (same == no_node) {
      change.nodes_removed.push_back(node.guid);
      continue;
    }
    const Node& there = after.node(same);
    if (there.description != node.description) change.nodes_renamed.push_back(node.guid);
    for (unsigned p = 0; p <= node.port_count; ++p) {
      const PortStatus was = status(before.port(PortIndex{node.first_port.raw() + p}));
      const PortStatus is = status(after.port(PortIndex{there.first_port.raw() + p}));
      if (was == is) continue;
      change.ports_changed.push_back({{node.guid, PortNum{static_cast<std::uint8_t>(p)}}, was, is});
    }
  }
  const auto links_before = sorted_links(before);
  const auto links_after = sorted_links(after);
  change.links_added = only_in_first(links_after, links_before);
  change.links_removed = only_in_first(links_before, links_after);
  std::ranges::sort(change.nodes_added);
  std::ranges::sort(change.nodes_removed);
  std::ranges::sort(change.nodes_renamed);
  std::ranges::sort(change.ports_changed, {}, &PortChange::port);
  return change;
}

std::string describe(const FabricChange& change, const Fabric& before, const Fabric& after,
                     const NodeNames& names) {
  std::string text;
  const Names was{before, after, names};
  const Names is{after, before, names};
  for (const NodeGuid guid : change.nodes_removed) {
    text += fmt::format("- {} {} ({})\n", type_of(before, guid), was.of(guid), to_string(guid));
  }
  for (const NodeGuid guid : change.nodes_added) {
    text += fmt::format("+ {} {} ({})\n", type_of(after, guid), is.of(guid), to_string(guid));
  }
  for (const NodeGuid guid : change.nodes_renamed) {
    text += fmt::format("~ {} {} is called {} ({})\n", type_of(after, guid), was.of(guid), is.of(guid),
                        to_string(guid));
  }
  for (const LinkRef& link : change.links_removed) text += fmt::format("- link {}\n", was.of(link));
  for (const LinkRef& link : change.links_added) text += fmt::format("+ link {}\n", is.of(link));
  for (const PortChange& port : change.ports_changed) {
    text += fmt::format("~ port {}: {}\n", is.of(port.port), difference(port.before, port.after));
  }
  return text;
}

}  // namespace heddle
