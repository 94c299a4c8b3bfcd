#include "routing/switch_graph.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

namespace heddle::routing {
namespace {

/// What hangs at the port, when LIDs are to be routed to it.
std::optional<Target> as_target(const Fabric& fabric, const SwitchGraph& graph, PortIndex index) {
  const Port& port = fabric.port(index);
  if (port.lid == no_lid) return std::nullopt;
  Target target;
  target.base = port.lid;
  target.lmc = port.lmc;
  target.port = index;
  const Node& node = fabric.node(port.node);
  if (node.type == NodeType::Switch) {
    if (port.num != PortNum{0}) return std::nullopt;
    target.kind = TargetKind::Switch;
    target.at = graph.find(port.node);
    target.out = PortNum{0};
    return target;
  }
  const auto peer = fabric.peer({port.node, port.num});
  if (!peer || graph.find(peer->node) == no_switch) return std::nullopt;
  target.kind =
      node.type == NodeType::ChannelAdapter && !node.aggregation ? TargetKind::Host : TargetKind::Other;
  target.at = graph.find(peer->node);
  target.out = peer->port;
  target.link = port.link;
  return target;
}

Result<void> check_range(const Fabric& fabric, const Target& target) {
  const unsigned first = target.base.raw();
  if (target.lmc > 7 || first + target.lid_count() - 1U > last_unicast_lid.raw() ||
      first % target.lid_count() != 0) {
    return fail(
        ErrorCode::Invalid,
        fmt::format("port {}: LID {} with LMC {} is not an aligned range within 1..{}; assign its LIDs again",
                    to_string(fabric.ref(target.port)), first, target.lmc, last_unicast_lid.raw()));
  }
  return {};
}

}  // namespace

Result<SwitchGraph> SwitchGraph::make(const Fabric& fabric) {
  SwitchGraph graph;
  graph.by_node_.assign(fabric.nodes().size(), no_switch);
  for (std::uint32_t n = 0; n < fabric.nodes().size(); ++n) {
    if (fabric.nodes()[n].type != NodeType::Switch) continue;
    graph.by_node_[n] = SwitchIndex{static_cast<std::uint32_t>(graph.nodes_.size())};
    graph.nodes_.push_back(NodeIndex{n});
    graph.guids_.push_back(fabric.nodes()[n].guid);
  }
  for (const NodeIndex n : graph.nodes_) {
    graph.first_.push_back(static_cast<std::uint32_t>(graph.hops_.size()));
    for (unsigned p = 1; p <= fabric.node(n).port_count; ++p) {
      const LinkEnd end{n, PortNum{static_cast<std::uint8_t>(p)}};
      const auto peer = fabric.peer(end);
      if (!peer || peer->node == n || graph.find(peer->node) == no_switch) continue;
      graph.hops_.push_back({graph.find(peer->node), fabric.port(end).link, end.port, peer->port});
    }
  }
  graph.first_.push_back(static_cast<std::uint32_t>(graph.hops_.size()));

  for (std::uint32_t i = 0; i < fabric.ports().size(); ++i) {
    const auto target = as_target(fabric, graph, PortIndex{i});
    if (!target) continue;
    if (auto good = check_range(fabric, *target); !good) return fail(good.error());
    graph.targets_.push_back(*target);
  }
  std::sort(graph.targets_.begin(), graph.targets_.end(),
            [](const Target& x, const Target& y) { return x.base < y.base; });
  for (std::size_t i = 1; i < graph.targets_.size(); ++i) {
    const Target& before = graph.targets_[i - 1];
    const Target& after = graph.targets_[i];
    if (before.base.raw() + before.lid_count() > after.base.raw()) {
      return fail(ErrorCode::Conflict,
                  fmt::format("LID {} belongs to port {} and to port {}; assign LIDs again", after.base.raw(),
                              to_string(fabric.ref(before.port)), to_string(fabric.ref(after.port))));
    }
  }
  if (!graph.targets_.empty()) {
    const Target& last = graph.targets_.back();
    graph.top_ = Lid{static_cast<std::uint16_t>(last.base.raw() + last.lid_count() - 1)};
  }

  graph.hosts_.assign(graph.size(), 0);
  graph.first_at_.assign(graph.size() + 1, 0);
  for (const Target& target : graph.targets_) {
    ++graph.first_at_[target.at.raw() + 1];
    if (target.kind == TargetKind::Host) ++graph.hosts_[target.at.raw()];
  }
  for (std::size_t s = 0; s < graph.size(); ++s) graph.first_at_[s + 1] += graph.first_at_[s];
  graph.at_.resize(graph.targets_.size());
  std::vector<std::uint32_t> next(graph.first_at_.begin(), graph.first_at_.end() - 1);
  for (std::uint32_t i = 0; i < graph.targets_.size(); ++i) graph.at_[next[graph.targets_[i].at.raw()]++] = i;
  return graph;
}

std::size_t SwitchGraph::host_count() const {
  std::size_t n = 0;
  for (const std::uint32_t hosts : hosts_) n += hosts;
  return n;
}

}  // namespace heddle::routing
