#include "regulation/topology.h"

#include <algorithm>

namespace heddle::regulation {
namespace {

bool has_room(const Fabric& fabric, const LinkRef& link) {
  for (const PortRef& end : {link.a, link.b}) {
    const PortIndex port = fabric.find_port(end);
    if (port == no_port || fabric.port(port).link != no_link) return false;
  }
  return link.a != link.b;
}

}  // namespace

std::shared_ptr<const Fabric> with_links(std::shared_ptr<const Fabric> seen,
                                         std::span<const AbsentLink> absent) {
  const auto fits = [&](const AbsentLink& link) { return has_room(*seen, link.link); };
  if (std::none_of(absent.begin(), absent.end(), fits)) return seen;
  FabricBuilder builder;
  for (const Node& node : seen->nodes()) {
    if (!builder.add_node(node)) return seen;
  }
  for (const Port& port : seen->ports()) {
    if (!builder.set_port(port.node, port)) return seen;
  }
  for (const Link& link : seen->links()) {
    if (!builder.add_link(link.a, link.b, link.width, link.speed)) return seen;
  }
  for (const AbsentLink& link : absent) {
    if (!fits(link)) continue;
    const Port& a = seen->port(seen->find_port(link.link.a));
    const Port& b = seen->port(seen->find_port(link.link.b));
    // Of two absent links on one port the first has it.
    if (!builder.add_link({a.node, a.num}, {b.node, b.num}, link.full.width, link.full.speed)) continue;
    for (const Port* port : {&a, &b}) {
      Port kept = builder.port(port->node, port->num);
      kept.state = port->state;
      kept.physical = port->physical;
      if (!builder.set_port(port->node, kept)) return seen;
    }
  }
  return builder.build(seen->epoch());
}

}  // namespace heddle::regulation
