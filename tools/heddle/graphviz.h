/// Drawings by Graphviz: a fabric as SVG.
#pragma once

#include <string>

#include "base/result.h"
#include "fabric/fabric.h"
#include "fabric/node_names.h"

namespace heddle::cli {

/// Runs Graphviz' `dot` for trees and layered fabrics, `sfdp` for others and large ones. Errors: Unsupported
/// where Graphviz is not installed, Io when it fails.
[[nodiscard]] Result<std::string> draw_svg(const Fabric& fabric, const NodeNames& names);

}  // namespace heddle::cli
