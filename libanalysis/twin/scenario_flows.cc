#include "twin/scenario_flows.h"

#include "sim/flow/flow_plane.h"
#include "sim/scenario_player.h"
#include "twin/view.h"

namespace heddle::twin {

Result<std::vector<sim::TrafficFlow>> flows_at(const sim::Scenario& scenario, const Fabric& fabric,
                                               Picoseconds at) {
  sim::ScenarioPlayer player{fabric};
  if (const auto added = player.add(scenario); !added) return fail(added.error());
  // Who sends to whom does not depend on what arrives: all links are off.
  const routing::SwitchGraph nobody;
  const routing::ForwardingTables nowhere;
  const routing::LinkSet off = routing::LinkSet::none(fabric);
  const View view{fabric, nobody, nowhere, off, nullptr};
  sim::FlowPlane plane{view};
  plane.set_schedule(&player);
  plane.advance(at);
  std::vector<sim::TrafficFlow> flows;
  for (const sim::TrafficId id : plane.ids()) flows.push_back(plane.flow(id));
  plane.set_schedule(nullptr);
  return flows;
}

}  // namespace heddle::twin
