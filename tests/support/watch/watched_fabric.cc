#include "support/watch/watched_fabric.h"

#include <fmt/format.h>

namespace heddle::test {

bool WatchedFabric::learn_lids() {
  const Fabric& plain = sim_.description();
  FabricBuilder builder;
  bool same = with_lids_ != nullptr;
  for (const Node& node : plain.nodes()) {
    const NodeIndex index = *builder.add_node(node);
    for (unsigned p = 0; p <= node.port_count; ++p) {
      const PortIndex at{node.first_port.raw() + p};
      Port port = plain.port(at);
      port.lid = sim_.port_info(at).lid;
      port.lmc = sim_.port_info(at).lmc;
      if (node.type == NodeType::Switch && p > 0) port.lid = no_lid;
      same = same && (faults.is_dead(index) || with_lids_->port(at).lid == port.lid);
      (void)builder.set_port(index, port);
    }
  }
  if (same) return false;
  for (const Link& link : plain.links()) (void)builder.add_link(link.a, link.b, link.width, link.speed);
  with_lids_ = builder.build();
  graph_ = std::make_unique<routing::SwitchGraph>(*routing::SwitchGraph::make(*with_lids_));
  return true;
}

routing::ForwardingTables WatchedFabric::tables() const {
  routing::ForwardingTables result(*graph_);
  for (std::uint32_t s = 0; s < graph_->size(); ++s) {
    const auto row = result.row(routing::SwitchIndex{s});
    const auto table = sim_.forwarding_table(graph_->node(routing::SwitchIndex{s}));
    for (std::size_t i = 0; i < row.size() && i < table.size(); ++i) row[i] = table[i].raw();
  }
  return result;
}

std::string WatchedFabric::port_fault(NodeIndex node, PortNum port) const {
  const PortIndex index = with_lids_->port_index(node, port);
  if (sim_.forwards(index) || with_lids_->port(index).link == no_link) return "";
  if (faults.has(with_lids_->port(index).link)) return "";
  // What comes back from a fault is in Init while its tables are written.
  if (faults.is_open() && sim_.port_info(index).physical == PhysState::LinkUp) return "";
  return fmt::format("{} port {} leads into a link that is off", name(node), port.raw());
}

template <class Passes>
NodeSet WatchedFabric::flood(Passes passes) const {
  const NodeIndex home = with_lids_->port(daemon_).node;
  NodeSet met(with_lids_->nodes().size());
  met.insert(home);
  std::vector<NodeIndex> queue{home};
  for (std::size_t i = 0; i < queue.size(); ++i) {
    const NodeIndex at = queue[i];
    if (at != home && !is_switch(at)) continue;
    const Node& node = with_lids_->node(at);
    for (unsigned p = 1; p <= node.port_count; ++p) {
      const LinkEnd end{at, PortNum{static_cast<std::uint8_t>(p)}};
      const auto peer = with_lids_->peer(end);
      if (!peer || faults.is_dead(peer->node) || !passes(with_lids_->port(end))) continue;
      if (met.insert(peer->node)) queue.push_back(peer->node);
    }
  }
  return met;
}

NodeSet WatchedFabric::joined() const {
  return flood([this](const Port& port) { return !faults.has(port.link); });
}

std::vector<std::string> WatchedFabric::out_of_reach() const {
  std::vector<std::string> texts;
  if (faults.is_open()) return texts;
  const NodeSet reached = flood([this](const Port& port) {
    return sim_.port_info(with_lids_->port_index(port.node, port.num)).physical == PhysState::LinkUp;
  });
  const NodeSet by_cables = joined();
  for (std::uint32_t n = 0; n < with_lids_->nodes().size(); ++n) {
    const NodeIndex node{n};
    if (!is_switch(node) || !by_cables.contains(node) || reached.contains(node)) continue;
    texts.push_back(fmt::format("directed routes of the daemon do not reach {}", name(node)));
  }
  return texts;
}

}  // namespace heddle::test
