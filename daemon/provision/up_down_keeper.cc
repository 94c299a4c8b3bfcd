#include "provision/up_down_keeper.h"

#include <utility>

namespace heddle::provision {
namespace {

/// Both ends logically up, or on their way there: tables are written before links are raised.
bool is_up(const Fabric& fabric, const Link& link) {
  return fabric.port(link.a).state != PortState::Down && fabric.port(link.b).state != PortState::Down;
}

/// The node of `fabric` in `other`, if it is the same there: ports and LIDs.
std::optional<NodeIndex> same_node(const Fabric& fabric, const Node& node, const Fabric& other) {
  const NodeIndex index = other.find_node(node.guid);
  if (index == no_node) return std::nullopt;
  const Node& twin = other.node(index);
  if (twin.type != node.type || twin.port_count != node.port_count) return std::nullopt;
  for (unsigned p = 0; p <= node.port_count; ++p) {
    const Port& here = fabric.port(PortIndex{node.first_port.raw() + p});
    const Port& there = other.port(PortIndex{twin.first_port.raw() + p});
    if (here.lid != no_lid && (here.lid != there.lid || here.lmc != there.lmc)) return std::nullopt;
  }
  return index;
}

}  // namespace

std::optional<routing::LinkSet> UpDownKeeper::links_up(const Fabric& fabric) const {
  if (!full_ || fabric.switch_count() != full_->switch_count()) return std::nullopt;
  std::vector<NodeIndex> in_full;
  in_full.reserve(fabric.nodes().size());
  for (const Node& node : fabric.nodes()) {
    const auto twin = same_node(fabric, node, *full_);
    if (!twin) return std::nullopt;
    in_full.push_back(*twin);
  }
  auto up = routing::LinkSet::none(*full_);
  for (const Link& link : fabric.links()) {
    const LinkEnd a{in_full[link.a.node.raw()], link.a.port};
    const LinkEnd b{in_full[link.b.node.raw()], link.b.port};
    if (full_->peer(a) != b) return std::nullopt;
    if (is_up(fabric, link)) up.insert(full_->port(a).link);
  }
  return up;
}

Result<routing::ForwardingTables> UpDownKeeper::route(const Fabric& fabric) {
  auto up = links_up(fabric);
  if (!up) {
    auto router = routing::UpDownRouter::make(fabric);
    if (!router) return fail(router.error());
    ++beginnings_;
    router_ = std::move(*router);
    full_ = std::make_shared<const Fabric>(fabric);
    up = links_up(*full_);
  }
  router_->update(*up);
  return router_->tables();
}

}  // namespace heddle::provision
