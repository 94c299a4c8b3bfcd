/// Makes the data plane of a simulated fabric, for those who let a user choose its level.
#pragma once

#include <memory>

#include "sim/flow/forwarding_view.h"
#include "sim/plane_kind.h"
#include "sim/traffic_plane.h"

namespace heddle::sim {

struct PlaneSetting {
  PlaneKind kind = PlaneKind::Flow;
  int data_vls = 8;       ///< of every port
  double time_scale = 1;  ///< simulated seconds per second: how much may be simulated in one
};

/// The view must outlive the plane. Errors: those of PacketPlane::make.
[[nodiscard]] Result<std::unique_ptr<TrafficPlane>> make_plane(const ForwardingView& view,
                                                               const PlaneSetting& setting);

}  // namespace heddle::sim
