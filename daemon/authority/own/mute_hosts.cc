#include "authority/own/mute_hosts.h"

namespace heddle::provision {
namespace {

/// The end in `now` of a host's link, if that forwards to nobody who is known.
PortIndex open_end(const Fabric& before, LinkEnd at_switch, const Fabric& now) {
  const PortIndex port = now.find_port(before.ref(at_switch));
  if (port == no_port) return no_port;
  const bool is_open = now.port(port).link == no_link && now.port(port).state == PortState::Active;
  return is_open ? port : no_port;
}

bool lids_are_free(const Port& port, const Fabric& now) {
  if (port.lid == no_lid) return false;
  for (unsigned i = 0; i < 1U << port.lmc; ++i) {
    if (now.find_port(Lid{static_cast<std::uint16_t>(port.lid.raw() + i)}) != no_port) return false;
  }
  return true;
}

void copy(const Fabric& from, const Node& node, FabricBuilder& builder, NodeIndex as) {
  for (unsigned p = 0; p <= node.port_count; ++p) {
    (void)builder.set_port(as, from.port(PortIndex{node.first_port.raw() + p}));
  }
}

}  // namespace

std::vector<MuteHost> mute_hosts(const Fabric& before, const Fabric& now) {
  std::vector<MuteHost> mute;
  for (std::uint32_t i = 0; i < before.nodes().size(); ++i) {
    const Node& node = before.nodes()[i];
    if (node.type == NodeType::Switch || now.find_node(node.guid) != no_node) continue;
    for (unsigned p = 1; p <= node.port_count; ++p) {
      const Port& port = before.port(PortIndex{node.first_port.raw() + p});
      if (port.link == no_link || !lids_are_free(port, now)) continue;
      const auto peer = before.peer({NodeIndex{i}, PortNum{static_cast<std::uint8_t>(p)}});
      if (open_end(before, *peer, now) != no_port) mute.push_back({NodeIndex{i}, port.link});
    }
  }
  return mute;
}

std::shared_ptr<const Fabric> with_mute_hosts(const Fabric& before, const Fabric& now) {
  const std::vector<MuteHost> mute = mute_hosts(before, now);
  if (mute.empty()) return std::make_shared<const Fabric>(now);
  FabricBuilder builder;
  for (const Node& node : now.nodes()) copy(now, node, builder, *builder.add_node(node));
  for (const Link& link : now.links()) (void)builder.add_link(link.a, link.b, link.width, link.speed);
  for (const MuteHost& each : mute) {
    const Node& host = before.node(each.host);
    NodeIndex as = builder.find_node(host.guid);
    if (as == no_node) {
      as = *builder.add_node(host);
      copy(before, host, builder, as);
    }
    const Link& link = before.link(each.link);
    const LinkEnd end = link.a.node == each.host ? link.a : link.b;
    const PortIndex open = open_end(before, *before.peer(end), now);
    (void)builder.add_link({now.port(open).node, now.port(open).num}, {as, end.port}, link.width, link.speed);
  }
  return builder.build(now.epoch());
}

}  // namespace heddle::provision
