/// The flows of a scenario at one moment. Rates follow from these and from the fabric alone, so that they are
/// listed once, and serve each prediction of what becomes of them.
#pragma once

#include <vector>

#include "base/result.h"
#include "sim/scenario.h"
#include "sim/traffic_plane.h"

namespace heddle::twin {

/// Errors: of the player.
[[nodiscard]] Result<std::vector<sim::TrafficFlow>> flows_at(const sim::Scenario& scenario,
                                                             const Fabric& fabric, Picoseconds at);

}  // namespace heddle::twin
