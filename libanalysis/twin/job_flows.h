/// The traffic of a job that is not there yet.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "fabric/fabric.h"
#include "sim/traffic_plane.h"

namespace heddle::twin {

/// Of "HOSTS:PATTERN:LOAD": hosts as Slurm writes many names, or patterns with *, by the first word of their
/// adapters' descriptions; a pattern of docs/scenarios.md; the share of its link that each host sends.
/// Errors: Invalid, NotFound.
[[nodiscard]] Result<std::vector<sim::TrafficFlow>> job_flows(const Fabric& fabric, const std::string& text);

}  // namespace heddle::twin
