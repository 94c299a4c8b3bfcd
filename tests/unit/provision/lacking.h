/// Copies of a fabric that lack something.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <vector>

#include "fabric/fabric.h"

namespace heddle::provision {

/// A copy without some node; with `down`, a port that says so.
inline std::shared_ptr<const Fabric> without(const Fabric& fabric, NodeIndex gone, PortRef down = {}) {
  FabricBuilder builder;
  std::vector<NodeIndex> kept(fabric.nodes().size(), no_node);
  for (std::uint32_t i = 0; i < fabric.nodes().size(); ++i) {
    if (NodeIndex{i} == gone) continue;
    const Node& node = fabric.nodes()[i];
    kept[i] = *builder.add_node(node);
    for (unsigned p = 0; p <= node.port_count; ++p) {
      Port port = fabric.port(PortIndex{node.first_port.raw() + p});
      if (PortRef{node.guid, port.num} == down) port.state = PortState::Down;
      EXPECT_TRUE(builder.set_port(kept[i], port));
    }
  }
  for (const Link& link : fabric.links()) {
    if (link.a.node == gone || link.b.node == gone) continue;
    EXPECT_TRUE(builder.add_link({kept[link.a.node.raw()], link.a.port},
                                 {kept[link.b.node.raw()], link.b.port}, link.width, link.speed));
  }
  return builder.build();
}

/// A copy without one cable.
inline std::shared_ptr<const Fabric> without(const Fabric& fabric, LinkIndex gone) {
  FabricBuilder builder;
  for (const Node& node : fabric.nodes()) {
    const NodeIndex index = *builder.add_node(node);
    for (unsigned p = 0; p <= node.port_count; ++p) {
      EXPECT_TRUE(builder.set_port(index, fabric.port(PortIndex{node.first_port.raw() + p})));
    }
  }
  for (std::uint32_t i = 0; i < fabric.links().size(); ++i) {
    const Link& link = fabric.link(LinkIndex{i});
    if (LinkIndex{i} == gone) continue;
    EXPECT_TRUE(builder.add_link(link.a, link.b, link.width, link.speed));
  }
  return builder.build();
}

}  // namespace heddle::provision
