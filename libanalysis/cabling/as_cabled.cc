#include "cabling/as_cabled.h"

namespace heddle::cabling {
namespace {

/// With its ports; what is there already stays.
void add_node(FabricBuilder& builder, const Fabric& fabric, NodeIndex index) {
  const Node& node = fabric.node(index);
  const auto added = builder.add_node(node);
  if (!added) return;
  for (unsigned p = 0; p <= node.port_count; ++p)
    (void)builder.set_port(*added, fabric.port(PortIndex{node.first_port.raw() + p}));
}

LinkEnd end_in(const FabricBuilder& builder, const PortRef& port) {
  return {builder.find_node(port.node), port.port};
}

void add_link(FabricBuilder& builder, const LinkRef& ref, const Link& link) {
  const LinkEnd a = end_in(builder, ref.a);
  const LinkEnd b = end_in(builder, ref.b);
  if (a.node != no_node && b.node != no_node) (void)builder.add_link(a, b, link.width, link.speed);
}

}  // namespace

std::shared_ptr<const Fabric> as_cabled(const std::shared_ptr<const Fabric>& reference,
                                        const std::shared_ptr<const Fabric>& seen,
                                        const std::set<LinkRef>& off) {
  if (!reference || off.empty()) return seen;
  FabricBuilder builder;
  for (std::uint32_t i = 0; i < seen->nodes().size(); ++i) add_node(builder, *seen, NodeIndex{i});
  for (const Link& link : seen->links()) add_link(builder, link_ref(*seen, link), link);
  for (const Link& link : reference->links()) {
    const LinkRef ref = link_ref(*reference, link);
    if (!off.contains(ref)) continue;
    for (const NodeIndex node : {link.a.node, link.b.node}) {
      if (builder.find_node(reference->node(node).guid) == no_node) add_node(builder, *reference, node);
    }
    add_link(builder, ref, link);
  }
  return builder.build(seen->epoch());
}

}  // namespace heddle::cabling
