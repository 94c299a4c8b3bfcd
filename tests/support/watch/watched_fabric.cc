#include "support/watch/watched_fabric.h"

#include <fmt/format.h>

namespace heddle::test {

bool WatchedFabric::has_lids() const {
  const Fabric& plain = sim_.description();
  if (!with_lids_) return false;
  for (const Node& node : plain.nodes()) {
    const NodeIndex index = plain.port(node.first_port).node;
    const unsigned last = node.type == NodeType::Switch ? 0 : node.port_count;
    for (unsigned p = 0; p <= last; ++p) {
      const PortIndex at{node.first_port.raw() + p};
      if (!faults.is_dead(index) && with_lids_->port(at).lid != sim_.port_info(at).lid) return false;
    }
  }
  return true;
}

std::shared_ptr<const Fabric> WatchedFabric::with_lids_of(const NodeSet* some) const {
  const Fabric& plain = sim_.description();
  FabricBuilder builder;
  for (const Node& node : plain.nodes()) {
    const NodeIndex index = *builder.add_node(node);
    for (unsigned p = 0; p <= node.port_count; ++p) {
      const PortIndex at{node.first_port.raw() + p};
      Port port = plain.port(at);
      const bool has_lid = node.type != NodeType::Switch || p == 0;
      port.lid = has_lid && (some == nullptr || some->contains(index)) ? sim_.port_info(at).lid : no_lid;
      port.lmc = sim_.port_info(at).lmc;
      (void)builder.set_port(index, port);
    }
  }
  for (const Link& link : plain.links()) (void)builder.add_link(link.a, link.b, link.width, link.speed);
  return builder.build();
}

Result<bool> WatchedFabric::learn_lids() {
  if (has_lids()) return false;
  auto fabric = with_lids_of(nullptr);
  auto graph = routing::SwitchGraph::make(*fabric);
  if (!graph && with_lids_) {
    // Who is out of the manager's sight may have a LID that somebody else has got meanwhile.
    const NodeSet& in_sight = joined();
    fabric = with_lids_of(&in_sight);
    graph = routing::SwitchGraph::make(*fabric);
  }
  if (!graph) return fail(graph.error());
  with_lids_ = std::move(fabric);
  graph_ = std::make_unique<routing::SwitchGraph>(*std::move(graph));
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

const NodeSet& WatchedFabric::joined() const {
  if (std::exchange(joined_at_, faults.version()) != faults.version())
    joined_ = flood([this](const Port& port) { return !faults.has(port.link); });
  return joined_;
}

std::vector<std::string> WatchedFabric::out_of_reach() const {
  std::vector<std::string> texts;
  if (faults.is_open()) return texts;
  const NodeSet reached = flood([this](const Port& port) {
    return sim_.port_info(with_lids_->port_index(port.node, port.num)).physical == PhysState::LinkUp;
  });
  const NodeSet& by_cables = joined();
  for (std::uint32_t n = 0; n < with_lids_->nodes().size(); ++n) {
    const NodeIndex node{n};
    if (!is_switch(node) || !by_cables.contains(node) || reached.contains(node)) continue;
    if (faults.is_drained(node)) continue;
    texts.push_back(fmt::format("directed routes of the daemon do not reach {}", name(node)));
  }
  return texts;
}

}  // namespace heddle::test
