/// A fabric as text for Graphviz: switches as boxes, adapters as ellipses, one edge per cable.
#pragma once

#include <string>

#include "fabric/fabric.h"
#include "fabric/node_names.h"

namespace heddle {

/// Nodes are identified by their GUIDs, so that names may repeat; edges show ports at their ends and their
/// rate.
[[nodiscard]] std::string write_dot(const Fabric& fabric, const NodeNames& names = {});

}  // namespace heddle
