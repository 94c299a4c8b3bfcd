/// What flows load where none of them has to wait for another: each is followed through the tables, LID by
/// LID. That is what the flow plane says, too, in a tenth of its time (tests/unit/twin/flow_loads_test.cc
/// holds them against each other); a large fabric's what-if runs hundreds of thousands of flows.
#pragma once

#include <optional>
#include <span>

#include "sim/traffic_plane.h"
#include "twin/predict.h"
#include "twin/view.h"

namespace heddle::twin {

/// As predict() of these flows alone. None where a link is asked for more than it carries, or where QoS
/// tables or ends that are no hosts at switches ask for the plane. `plane`: as for predict().
[[nodiscard]] std::optional<Prediction> carried_as_wanted(const View& view,
                                                          std::span<const sim::TrafficFlow> flows,
                                                          unsigned plane);

}  // namespace heddle::twin
