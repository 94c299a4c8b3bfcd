#include "sim/make_plane.h"

#include <algorithm>

#include "sim/flow/flow_plane.h"
#include "sim/packet_plane.h"

namespace heddle::sim {
namespace {

/// What one core does in a part of a second: the rest is for whoever else waits.
constexpr double events_per_real_second = 1e6;

}  // namespace

Result<std::unique_ptr<TrafficPlane>> make_plane(const ForwardingView& view, const PlaneSetting& setting) {
  if (setting.kind == PlaneKind::Flow) return std::unique_ptr<TrafficPlane>{new FlowPlane{view}};
  PacketPlaneOptions options;
  options.data_vls = setting.data_vls;
  options.events_per_ms =
      static_cast<std::uint64_t>(std::max(1.0, events_per_real_second / 1000 / setting.time_scale));
  auto plane = PacketPlane::make(view, options);
  if (!plane) return fail(plane.error());
  return std::unique_ptr<TrafficPlane>{std::move(*plane)};
}

}  // namespace heddle::sim
