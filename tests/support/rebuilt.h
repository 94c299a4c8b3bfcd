/// A fabric with other nodes or ports in the places of some, for tests of what has been replaced.
#pragma once

#include <functional>
#include <memory>

#include "fabric/fabric.h"

namespace heddle::test {

/// `change` gets each node as it was.
inline std::shared_ptr<const Fabric> rebuilt(const Fabric& fabric, const std::function<void(Node&)>& change) {
  FabricBuilder builder;
  for (const Node& node : fabric.nodes()) {
    Node other = node;
    change(other);
    const NodeIndex index = builder.add_node(other).value();
    for (unsigned p = 0; p <= node.port_count; ++p)
      (void)builder.set_port(index, fabric.port(PortIndex{node.first_port.raw() + p}));
  }
  for (const Link& link : fabric.links()) (void)builder.add_link(link.a, link.b, link.width, link.speed);
  return builder.build();
}

}  // namespace heddle::test
