/// Configures a simulated fabric as a plain subnet manager would, at once and without travelling: LIDs,
/// min-hop forwarding tables, all links Active. Through MADs, handed to each agent directly. For tests,
/// benchmarks and tools that need a working fabric and no subnet manager.
#pragma once

#include <cstdint>

#include "sim/simulated_fabric.h"

namespace heddle::sim {

struct BringUp {
  std::uint8_t lmc = 0;
  Lid sm_lid{};  ///< written into every port; none: no traps are sent
};

/// LIDs follow the order of the nodes: from 1, switches and channel adapter ports alike. Links with a
/// training delay must be up already.
void bring_up(SimulatedFabric& fabric, const BringUp& how = {});

}  // namespace heddle::sim
