#include "fabric/rates.h"

#include <algorithm>

#include "fabric/links.h"

namespace heddle {
namespace {

/// The same cable in the other snapshot, where it carries traffic; null for none.
const Link* find_active(const Fabric& seen, const Fabric& fabric, const Link& link) {
  const PortIndex a = seen.find_port(fabric.ref(link.a));
  const PortIndex b = seen.find_port(fabric.ref(link.b));
  if (a == no_port || b == no_port || seen.port(a).link == no_link) return nullptr;
  const Link& there = seen.link(seen.port(a).link);
  return is_active(seen, there) && seen.port(a).link == seen.port(b).link ? &there : nullptr;
}

}  // namespace

std::shared_ptr<const Fabric> at_rates_of(const Fabric& seen, std::shared_ptr<const Fabric> fabric) {
  const auto rate_of = [&](const Link& link) -> const Link& {
    const Link* there = find_active(seen, *fabric, link);
    return there == nullptr ? link : *there;
  };
  const bool same = std::ranges::all_of(fabric->links(), [&](const Link& link) {
    const Link& rate = rate_of(link);
    return rate.width == link.width && rate.speed == link.speed;
  });
  if (same) return fabric;
  FabricBuilder builder;
  for (const Node& node : fabric->nodes()) {
    const NodeIndex index = builder.add_node(node).value();
    for (unsigned p = 0; p <= node.port_count; ++p) {
      Port port = fabric->port(PortIndex{node.first_port.raw() + p});
      if (port.link != no_link) {
        port.width = rate_of(fabric->link(port.link)).width;
        port.speed = rate_of(fabric->link(port.link)).speed;
      }
      (void)builder.set_port(index, port);
    }
  }
  for (const Link& link : fabric->links())
    (void)builder.add_link(link.a, link.b, rate_of(link).width, rate_of(link).speed);
  return builder.build(fabric->epoch());
}

}  // namespace heddle
