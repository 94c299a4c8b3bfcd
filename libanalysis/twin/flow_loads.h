/// What flows load and get: each is followed through the tables, LID by LID, and those that cross links which
/// are asked for more than they carry share these, max-min fair. That is what the flow plane says, too, in a
/// tenth of its time (tests/unit/twin/flow_loads_test.cc holds them against each other); a large fabric's
/// what-if runs hundreds of thousands of flows.
#pragma once

#include <optional>
#include <span>

#include "base/result.h"
#include "sim/traffic_plane.h"
#include "twin/predict.h"
#include "twin/view.h"

namespace heddle::twin {

/// None where QoS tables, or ends that are no hosts at switches, ask for the plane. `plane`: as for
/// predict().
[[nodiscard]] std::optional<Prediction> follow_flows(const View& view,
                                                     std::span<const sim::TrafficFlow> flows, unsigned plane);

/// By whichever can. Errors: of what no host sends.
[[nodiscard]] Result<Prediction> predict_flows(const View& view, std::span<const sim::TrafficFlow> flows,
                                               unsigned plane);

}  // namespace heddle::twin
