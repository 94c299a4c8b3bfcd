#include "authority/own/mute_nodes.h"

#include <algorithm>
#include <optional>

namespace heddle::provision {
namespace {

/// The end in `now` of a cable to somebody who is not known there.
PortIndex free_end(const Fabric& before, LinkEnd end, const Fabric& now) {
  const PortIndex port = now.find_port(before.ref(end));
  return port != no_port && now.port(port).link == no_link ? port : no_port;
}

bool lids_are_free(const Port& port, const Fabric& now) {
  for (unsigned i = 0; port.lid != no_lid && i < 1U << port.lmc; ++i) {
    if (now.find_port(Lid{static_cast<std::uint16_t>(port.lid.raw() + i)}) != no_port) return false;
  }
  return true;
}

class Search {
 public:
  Search(const Fabric& before, const routing::LinkSet& up, const Fabric& now)
      : before_{before}, up_{up}, now_{now}, is_mute_(before.nodes().size(), 0) {}

  MuteNodes find() {
    for (std::uint32_t i = 0; i < before_.links().size(); ++i) {
      const Link& link = before_.link(LinkIndex{i});
      for (const auto& [near, far] : {std::pair{link.a, link.b}, std::pair{link.b, link.a}}) {
        const PortIndex port = free_end(before_, near, now_);
        if (port == no_port || now_.port(port).state != PortState::Active || !may_be_mute(far)) continue;
        found_.links.push_back(LinkIndex{i});
        add(far.node);
      }
    }
    // Only switches pass anything on.
    for (std::size_t i = 0; i < found_.nodes.size(); ++i) {
      const NodeIndex at = found_.nodes[i];
      const Node& node = before_.node(at);
      for (unsigned p = 1; node.type == NodeType::Switch && p <= node.port_count; ++p) {
        const LinkEnd end{at, PortNum{static_cast<std::uint8_t>(p)}};
        const auto peer = before_.peer(end);
        if (!peer || !may_be_mute(*peer) || !up_.contains(before_.port(end).link)) continue;
        found_.links.push_back(before_.port(end).link);
        add(peer->node);
      }
    }
    return std::move(found_);
  }

 private:
  void add(NodeIndex node) {
    if (is_mute_[node.raw()] != 0) return;
    is_mute_[node.raw()] = 1;
    found_.nodes.push_back(node);
  }
  [[nodiscard]] bool may_be_mute(LinkEnd end) const {
    const Node& node = before_.node(end.node);
    if (now_.find_node(node.guid) != no_node) return false;
    if (node.type != NodeType::Switch) {
      const Port& port = before_.port(end);
      return port.lid != no_lid && lids_are_free(port, now_);
    }
    return lids_are_free(before_.port(LinkEnd{end.node, PortNum{0}}), now_);
  }

  const Fabric& before_;
  const routing::LinkSet& up_;
  const Fabric& now_;
  std::vector<char> is_mute_;
  MuteNodes found_;
};

void copy(const Fabric& from, const Node& node, FabricBuilder& builder, NodeIndex as) {
  for (unsigned p = 0; p <= node.port_count; ++p) {
    (void)builder.set_port(as, from.port(PortIndex{node.first_port.raw() + p}));
  }
}

}  // namespace

MuteNodes mute_nodes(const Fabric& before, const routing::LinkSet& up, const Fabric& now) {
  return Search(before, up, now).find();
}

std::shared_ptr<const Fabric> with_mute_nodes(const Fabric& before, const routing::LinkSet& up,
                                              const Fabric& now) {
  const MuteNodes mute = mute_nodes(before, up, now);
  if (mute.nodes.empty()) return std::make_shared<const Fabric>(now);
  FabricBuilder builder;
  for (const Node& node : now.nodes()) copy(now, node, builder, *builder.add_node(node));
  for (const Link& link : now.links()) (void)builder.add_link(link.a, link.b, link.width, link.speed);
  for (const NodeIndex each : mute.nodes) {
    const Node& node = before.node(each);
    copy(before, node, builder, *builder.add_node(node));
  }
  const auto end_of = [&](LinkEnd end) -> std::optional<LinkEnd> {
    if (std::find(mute.nodes.begin(), mute.nodes.end(), end.node) == mute.nodes.end()) {
      const PortIndex port = free_end(before, end, now);
      if (port == no_port) return std::nullopt;
      return LinkEnd{now.port(port).node, now.port(port).num};
    }
    return LinkEnd{builder.find_node(before.node(end.node).guid), end.port};
  };
  for (const Link& link : before.links()) {
    const bool is_new = now.find_node(before.node(link.a.node).guid) == no_node ||
                        now.find_node(before.node(link.b.node).guid) == no_node;
    const auto a = is_new ? end_of(link.a) : std::nullopt;
    const auto b = is_new ? end_of(link.b) : std::nullopt;
    if (a && b) (void)builder.add_link(*a, *b, link.width, link.speed);
  }
  return builder.build(now.epoch());
}

}  // namespace heddle::provision
