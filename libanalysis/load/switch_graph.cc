#include "load/switch_graph.h"

#include <algorithm>
#include <tuple>

namespace heddle::load {
namespace {

bool is_switch(const Fabric& fabric, NodeIndex node) { return fabric.node(node).type == NodeType::Switch; }

// Hosts on each switch, by NodeIndex.
std::vector<int> hosts_on(const Fabric& fabric) {
  std::vector<int> hosts(fabric.nodes().size());
  for (const Link& link : fabric.links()) {
    const bool a = is_switch(fabric, link.a.node);
    const bool b = is_switch(fabric, link.b.node);
    if (a && !b && !fabric.node(link.b.node).aggregation) ++hosts[link.a.node.raw()];
    if (b && !a && !fabric.node(link.a.node).aggregation) ++hosts[link.b.node.raw()];
  }
  return hosts;
}

// Hops from the nearest of `sources`; -1 where there is no way. Appends the switches in the order found.
std::vector<int> distances(const SwitchNeighbours& neighbours, std::vector<NodeIndex> sources,
                           std::vector<NodeIndex>* order = nullptr) {
  std::vector<int> distance(neighbours.size(), -1);
  for (const NodeIndex source : sources) distance[source.raw()] = 0;
  std::vector<NodeIndex>& queue = sources;
  for (std::size_t i = 0; i < queue.size(); ++i) {
    const NodeIndex node = queue[i];
    for (const NodeIndex next : neighbours[node.raw()]) {
      if (distance[next.raw()] >= 0) continue;
      distance[next.raw()] = distance[node.raw()] + 1;
      queue.push_back(next);
    }
  }
  if (order != nullptr) *order = std::move(queue);
  return distance;
}

// Of one connected part of a tree, `members`.
NodeIndex root_of(const Fabric& fabric, const SwitchNeighbours& neighbours,
                  const std::vector<NodeIndex>& members, const std::vector<int>& from_hosts) {
  const auto farthest = [&](const std::vector<int>& distance) {
    return *std::ranges::max_element(members, {}, [&](NodeIndex n) { return distance[n.raw()]; });
  };
  // In a tree, the farthest switch from anywhere is an end of a longest path, and the farther end of it is as
  // far as one can get from any switch.
  const NodeIndex one_end = farthest(distances(neighbours, {members.front()}));
  const std::vector<int> from_one = distances(neighbours, {one_end});
  const std::vector<int> from_other = distances(neighbours, {farthest(from_one)});
  return *std::ranges::min_element(members, {}, [&](NodeIndex n) {
    return std::tuple{-from_hosts[n.raw()], std::max(from_one[n.raw()], from_other[n.raw()]),
                      fabric.node(n).guid};
  });
}

std::optional<Tiers> tiers_from(const Fabric& fabric, const SwitchNeighbours& neighbours,
                                const std::vector<int>& hosts, int least_hosts) {
  std::vector<NodeIndex> leaves;
  for (std::uint32_t i = 0; i < neighbours.size(); ++i) {
    if (is_switch(fabric, NodeIndex{i}) && hosts[i] >= least_hosts) leaves.push_back(NodeIndex{i});
  }
  Tiers tiers{.level = distances(neighbours, std::move(leaves))};
  for (std::uint32_t i = 0; i < neighbours.size(); ++i) {
    int& level = tiers.level[i];
    if (is_switch(fabric, NodeIndex{i}) && level < 0) {
      if (!neighbours[i].empty()) return std::nullopt;
      level = 0;
    }
    tiers.top = std::max(tiers.top, level);
    for (const NodeIndex next : neighbours[i]) {
      if (std::abs(level - tiers.level[next.raw()]) != 1) return std::nullopt;
    }
  }
  return tiers;
}

}  // namespace

SwitchNeighbours switch_neighbours(const Fabric& fabric) {
  SwitchNeighbours neighbours(fabric.nodes().size());
  for (const Link& link : fabric.links()) {
    if (link.a.node == link.b.node || !is_switch(fabric, link.a.node) || !is_switch(fabric, link.b.node)) {
      continue;
    }
    neighbours[link.a.node.raw()].push_back(link.b.node);
    neighbours[link.b.node.raw()].push_back(link.a.node);
  }
  for (auto& list : neighbours) {
    std::ranges::sort(list);
    list.erase(std::unique(list.begin(), list.end()), list.end());
  }
  return neighbours;
}

std::optional<Tree> find_tree(const Fabric& fabric, const SwitchNeighbours& neighbours) {
  const std::vector<int> hosts = hosts_on(fabric);
  std::vector<NodeIndex> with_hosts;
  for (std::uint32_t i = 0; i < hosts.size(); ++i) {
    if (hosts[i] > 0) with_hosts.push_back(NodeIndex{i});
  }
  const std::vector<int> from_hosts = distances(neighbours, std::move(with_hosts));

  Tree tree{.parent = std::vector<NodeIndex>(neighbours.size(), no_node)};
  std::vector<bool> seen(neighbours.size());
  for (std::uint32_t i = 0; i < neighbours.size(); ++i) {
    if (seen[i] || !is_switch(fabric, NodeIndex{i})) continue;
    std::vector<NodeIndex> members;
    distances(neighbours, {NodeIndex{i}}, &members);
    std::size_t ends = 0;
    for (const NodeIndex member : members) ends += neighbours[member.raw()].size();
    if (ends != 2 * (members.size() - 1)) return std::nullopt;
    std::vector<NodeIndex> down;
    const NodeIndex root = root_of(fabric, neighbours, members, from_hosts);
    const std::vector<int> depth = distances(neighbours, {root}, &down);
    for (const NodeIndex member : down) {
      seen[member.raw()] = true;
      for (const NodeIndex next : neighbours[member.raw()]) {
        if (depth[next.raw()] > depth[member.raw()]) tree.parent[next.raw()] = member;
      }
    }
    tree.order.insert(tree.order.end(), down.begin(), down.end());
  }
  return tree;
}

std::optional<Tiers> find_tiers(const Fabric& fabric, const SwitchNeighbours& neighbours) {
  const std::vector<int> hosts = hosts_on(fabric);
  const int most = hosts.empty() ? 0 : *std::ranges::max_element(hosts);
  if (most == 0) return std::nullopt;
  if (auto tiers = tiers_from(fabric, neighbours, hosts, 1)) return tiers;
  return tiers_from(fabric, neighbours, hosts, (most + 3) / 4);
}

}  // namespace heddle::load
