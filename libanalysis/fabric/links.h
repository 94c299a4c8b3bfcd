/// What a cable of a snapshot is: by the states of its ports, and by what it joins.
#pragma once

#include "fabric/change.h"
#include "fabric/fabric.h"

namespace heddle {

/// Both ends Active: it carries traffic.
[[nodiscard]] inline bool is_active(const Fabric& fabric, const Link& link) {
  return fabric.port(link.a).state == PortState::Active && fabric.port(link.b).state == PortState::Active;
}

/// Both ends logically up, or on their way there.
[[nodiscard]] inline bool is_up(const Fabric& fabric, const Link& link) {
  return fabric.port(link.a).state != PortState::Down && fabric.port(link.b).state != PortState::Down;
}

[[nodiscard]] inline bool joins_switches(const Fabric& fabric, const Link& link) {
  return fabric.node(link.a.node).type == NodeType::Switch &&
         fabric.node(link.b.node).type == NodeType::Switch;
}

/// There is such a port, and a cable in it.
[[nodiscard]] inline bool is_cabled(const Fabric& fabric, const PortRef& ref) {
  const PortIndex port = fabric.find_port(ref);
  return port != no_port && fabric.port(port).link != no_link;
}

/// no_link where this snapshot has no such cable.
[[nodiscard]] inline LinkIndex find_link(const Fabric& fabric, const LinkRef& ref) {
  const PortIndex port = fabric.find_port(ref.a);
  const LinkIndex link = port == no_port ? no_link : fabric.port(port).link;
  return link != no_link && link_ref(fabric, fabric.link(link)) == ref ? link : no_link;
}

}  // namespace heddle
