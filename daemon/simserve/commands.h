/// What a script can do to a simulated fabric while it runs: links, nodes, faults, traffic, counters. One
/// JSON object in, one out; docs/simulator.md lists them. No I/O of its own.
#pragma once

#include <boost/json/object.hpp>
#include <map>

#include "base/result.h"
#include "sim/scenario_player.h"
#include "sim/simulated_fabric.h"
#include "sim/traffic_plane.h"

namespace heddle::simserve {

/// What makes the traffic of a fabric; both or neither.
struct TrafficSource {
  sim::TrafficPlane* plane = nullptr;
  sim::ScenarioPlayer* player = nullptr;
};

class Commands {
 public:
  /// All of it must outlive this.
  Commands(sim::SimulatedFabric& fabric, TrafficSource traffic) : fabric_{fabric}, traffic_{traffic} {}

  /// {"command": "link" | "node" | "faults" | "agent" | "errors" | "counters" | "traffic" | "reach" |
  /// "status", ...}.
  /// Errors name the key that is missing, unknown or wrong.
  [[nodiscard]] Result<boost::json::object> run(const boost::json::object& request, Picoseconds now);

 private:
  using Outcome = Result<boost::json::object>;
  Outcome link(const boost::json::object& request, Picoseconds now);
  Outcome node(const boost::json::object& request, Picoseconds now);
  Outcome faults(const boost::json::object& request);
  Outcome agent(const boost::json::object& request);
  Outcome errors(const boost::json::object& request, Picoseconds now);
  Outcome receiver(const boost::json::object& request, Picoseconds now);
  Outcome bit_errors(const boost::json::object& request, Picoseconds now);
  Outcome counters(const boost::json::object& request, Picoseconds now);
  Outcome traffic(const boost::json::object& request, Picoseconds now);
  Outcome add_flow(const boost::json::object& request, Picoseconds now);
  Outcome list_traffic(Picoseconds now);
  Outcome reach(const boost::json::object& request) const;
  Outcome status(Picoseconds now);

  [[nodiscard]] Result<NodeIndex> node_in(const boost::json::object& request) const;
  [[nodiscard]] Result<PortIndex> port_in(const boost::json::object& request) const;
  [[nodiscard]] Result<PortIndex> end_port_in(const boost::json::object& request, const char* key) const;

  sim::SimulatedFabric& fabric_;
  TrafficSource traffic_;
  std::map<std::uint64_t, sim::TrafficId> flows_;  ///< by the number that the script was given
  std::uint64_t next_flow_ = 1;
};

}  // namespace heddle::simserve
