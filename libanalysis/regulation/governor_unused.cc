// Switches none of whose links is on: where something can take their power away, it is told, and told again
// before they are needed.

#include <fmt/format.h>

#include <algorithm>

#include "regulation/governor_impl.h"

namespace heddle::regulation {

bool Governor::Impl::is_switch(NodeIndex node) const {
  return network->fabric().node(node).type == NodeType::Switch;
}

std::set<NodeIndex> Governor::Impl::switches_of(const std::vector<LinkRef>& links) const {
  std::set<NodeIndex> switches;
  for (const LinkRef& link : links) {
    for (const PortRef& port : {link.a, link.b}) {
      const NodeIndex node = network->fabric().find_node(port.node);
      if (node != no_node && is_switch(node)) switches.insert(node);
    }
  }
  return switches;
}

/// By order: one whose cables are all lost has been told of as that.
bool Governor::Impl::is_unused(NodeIndex index) const {
  const Fabric& fabric = network->fabric();
  const Node& node = fabric.node(index);
  bool by_order = false;
  for (std::uint32_t p = 1; p <= node.port_count; ++p) {
    const LinkIndex link = fabric.port(PortIndex{node.first_port.raw() + p}).link;
    if (link == no_link) continue;
    const LinkState state = records[link.raw()].state;
    if (state != LinkState::Off && state != LinkState::Lost) return false;
    by_order = by_order || state == LinkState::Off;
  }
  return by_order;
}

std::optional<Watts> Governor::Impl::base_of(NodeIndex index) const {
  const Node& node = network->fabric().node(index);
  if (options.power.is_unknown(node)) return std::nullopt;
  return options.power.base(node);
}

void Governor::Impl::find_unused() {
  unused_.clear();
  if (!network) return;
  const auto& nodes = network->fabric().nodes();
  for (std::uint32_t i = 0; i < nodes.size(); ++i) {
    if (is_switch(NodeIndex{i}) && is_unused(NodeIndex{i})) unused_.insert(nodes[i].guid);
  }
}

void Governor::Impl::tell_unused(const std::vector<LinkRef>& closed) {
  for (const NodeIndex node : switches_of(closed)) {
    const NodeGuid guid = network->fabric().node(node).guid;
    if (!is_unused(node) || !unused_.insert(guid).second) continue;
    const auto base = base_of(node);
    report(ReportKind::Unused, {},
           fmt::format("{} {}: none of its links is on{}", to_string(guid), name(node),
                       base ? fmt::format("; {:.1f} W with all ports off", base->value()) : std::string{}));
  }
}

void Governor::Impl::tell_needed(const std::vector<LinkIndex>& opened) {
  if (unused_.empty()) return;
  std::map<NodeIndex, std::chrono::nanoseconds> needed;
  for (const LinkIndex link : opened) {
    for (const NodeIndex node : switches_of({at(link).ref})) {
      if (!unused_.contains(network->fabric().node(node).guid)) continue;
      auto& time = needed[node];
      time = std::max(time, wakes_[link.raw()].wake);
    }
  }
  for (const auto& [node, time] : needed) {
    const NodeGuid guid = network->fabric().node(node).guid;
    unused_.erase(guid);
    report(ReportKind::Needed, {},
           fmt::format("{} {}: needed again in {:.1f} s", to_string(guid), name(node), seconds(time)));
  }
}

std::vector<IdleSwitch> Governor::Impl::idle_switches() const {
  if (!network) return {};
  const Fabric& fabric = network->fabric();
  std::vector<std::size_t> on(fabric.nodes().size(), 0);
  std::vector<std::uint8_t> has_hosts(fabric.nodes().size(), 0);
  std::vector<std::uint8_t> will_be(records.size(), 0);
  for (std::uint32_t i = 0; i < records.size(); ++i) will_be[i] = is_on(records[i]) ? 1 : 0;
  if (plan) {
    for (const LinkDecision& decision : plan->decisions) {
      if (decision.turn == Turn::Off || decision.turn == Turn::On)
        will_be[decision.link.raw()] = decision.turn == Turn::On ? 1 : 0;
    }
  }
  for (std::uint32_t i = 0; i < records.size(); ++i) {
    if (will_be[i] == 0) continue;
    const Link& link = fabric.link(LinkIndex{i});
    for (const auto& [end, far] : {std::pair{link.a, link.b}, std::pair{link.b, link.a}}) {
      ++on[end.node.raw()];
      const Node& peer = fabric.node(far.node);
      if (peer.type != NodeType::Switch && !peer.aggregation) has_hosts[end.node.raw()] = 1;
    }
  }
  std::vector<IdleSwitch> idle;
  for (std::uint32_t i = 0; i < fabric.nodes().size(); ++i) {
    const NodeIndex node{i};
    if (is_switch(node) && has_hosts[i] == 0 && on[i] <= 1)
      idle.push_back({fabric.node(node).guid, on[i], base_of(node)});
  }
  return idle;
}

}  // namespace heddle::regulation
