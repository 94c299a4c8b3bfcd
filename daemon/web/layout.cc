#include "web/layout.h"

#include <algorithm>

#include "load/switch_graph.h"
#include "routing/grid.h"
#include "routing/switch_graph.h"

namespace heddle::web {
namespace {

/// Distances from the leaves of a tree whose parents are known, so that a switch is above all its children.
std::vector<int> heights(const load::Tree& tree) {
  std::vector<int> height(tree.parent.size(), -1);
  for (auto node = tree.order.rbegin(); node != tree.order.rend(); ++node) {
    int& own = height[node->raw()];
    own = std::max(own, 0);
    const NodeIndex parent = tree.parent[node->raw()];
    if (parent != no_node) height[parent.raw()] = std::max(height[parent.raw()], own + 1);
  }
  return height;
}

/// Levels of a fabric that is nearly layered, as real ones are: distance from the switches that have most of
/// the hosts. Empty where more than one cable in eight stays within a level.
std::vector<int> near_levels(const Fabric& fabric, const load::SwitchNeighbours& neighbours) {
  std::vector<std::size_t> hosts(fabric.nodes().size());
  std::size_t most = 0;
  for (const Link& link : fabric.links()) {
    for (const auto& [own, other] : {std::pair{link.a, link.b}, std::pair{link.b, link.a}}) {
      const Node& peer = fabric.node(other.node);
      if (fabric.node(own.node).type == NodeType::Switch && peer.type == NodeType::ChannelAdapter &&
          !peer.aggregation)
        most = std::max(most, ++hosts[own.node.raw()]);
    }
  }
  std::vector<int> level(fabric.nodes().size(), -1);
  std::vector<NodeIndex> reached;
  for (std::uint32_t i = 0; i < hosts.size(); ++i) {
    if (hosts[i] == 0 || hosts[i] * 2 < most) continue;
    level[i] = 0;
    reached.push_back(NodeIndex{i});
  }
  for (std::size_t at = 0; at < reached.size(); ++at) {
    for (const NodeIndex peer : neighbours[reached[at].raw()]) {
      if (level[peer.raw()] >= 0) continue;
      level[peer.raw()] = level[reached[at].raw()] + 1;
      reached.push_back(peer);
    }
  }
  std::size_t within = 0;
  std::size_t all = 0;
  for (std::uint32_t i = 0; i < neighbours.size(); ++i) {
    if (fabric.nodes()[i].type == NodeType::Switch && level[i] < 0) return {};
    for (const NodeIndex peer : neighbours[i]) {
      ++all;
      within += level[i] == level[peer.raw()] ? 1 : 0;
    }
  }
  return within * 8 > all ? std::vector<int>{} : level;
}

bool has_switch(const Fabric& fabric) { return fabric.switch_count() > 0; }

Layout grid_layout(const Fabric& fabric) {
  const auto graph = routing::SwitchGraph::make(fabric);
  if (!graph) return {};
  const auto grid = routing::find_grid(fabric, *graph);
  if (!grid || grid->dimensions.empty()) return {};
  Layout layout{.kind = Layout::Kind::Grid};
  const std::size_t dimensions = grid->dimensions.size();
  for (const auto& dimension : grid->dimensions) layout.sizes.push_back(dimension.size);
  layout.place.assign(fabric.nodes().size() * dimensions, -1);
  for (std::uint32_t s = 0; s < graph->size(); ++s) {
    const std::size_t node = graph->node(routing::SwitchIndex{s}).raw();
    for (std::size_t d = 0; d < dimensions; ++d) {
      layout.place[node * dimensions + d] =
          static_cast<std::int32_t>(grid->place_of(routing::SwitchIndex{s}, d));
    }
  }
  return layout;
}

}  // namespace

Layout find_layout(const Fabric& fabric) {
  if (!has_switch(fabric)) return {};
  const auto neighbours = load::switch_neighbours(fabric);
  if (const auto tree = load::find_tree(fabric, neighbours))
    return {.kind = Layout::Kind::Levels, .level = heights(*tree)};
  if (auto tiers = load::find_tiers(fabric, neighbours))
    return {.kind = Layout::Kind::Levels, .level = std::move(tiers->level)};
  if (Layout grid = grid_layout(fabric); grid.kind == Layout::Kind::Grid) return grid;
  if (auto level = near_levels(fabric, neighbours); !level.empty())
    return {.kind = Layout::Kind::Levels, .level = std::move(level)};
  return {};
}

}  // namespace heddle::web
