/// A root for orders of tests that depend on where paths lead: on a torus, the chosen order spreads what
/// these tests want on few links.
#pragma once

#include <algorithm>

#include "fabric/fabric.h"

namespace heddle::regulation {

/// The switch with the least GUID.
inline NodeGuid first_switch(const Fabric& fabric) {
  NodeGuid least{~0ULL};
  for (const Node& node : fabric.nodes()) {
    if (node.type == NodeType::Switch) least = std::min(least, node.guid);
  }
  return least;
}

}  // namespace heddle::regulation
