/// The rings of a torus: for rules against deadlock that need to know which links go round.
#pragma once

#include <vector>

#include "base/result.h"
#include "fabric/generators.h"
#include "sim/packet/config.h"

namespace heddle::packet {

/// By PortIndex of the sending end, for a fabric that `generate` made from this spec. A ring is a dimension
/// and a direction; its date line lies between the last switch of the dimension and the first. Errors:
/// Invalid for a fabric of another size.
[[nodiscard]] Result<std::vector<RingHop>> torus_rings(const Fabric& fabric, const GridSpec& spec);

}  // namespace heddle::packet
