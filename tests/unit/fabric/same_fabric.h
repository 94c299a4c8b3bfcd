/// Whether two fabrics are the same as far as a topology file can tell.
#pragma once

#include <string>

#include "fabric/fabric.h"

namespace heddle {

/// Empty, or the first difference. Node order, GUIDs, descriptions, LIDs, widths, speeds, cables; not port
/// states.
[[nodiscard]] std::string first_difference(const Fabric& a, const Fabric& b);

}  // namespace heddle
