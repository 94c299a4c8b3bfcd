/// A simulated fabric that has been brought up, with a flow plane that hears of its changes.
#pragma once

#include <vector>

#include "fabric/generators.h"
#include "sim/bring_up.h"
#include "sim/flow/fabric_view.h"
#include "sim/flow/flow_plane.h"
#include "sim/scenario_hosts.h"
#include "sim/simulated_fabric.h"

namespace heddle::sim {

constexpr Picoseconds operator""_s(unsigned long long n) {
  return Picoseconds{static_cast<std::int64_t>(n) * 1'000'000'000'000};
}
constexpr Picoseconds operator""_ms(unsigned long long n) {
  return Picoseconds{static_cast<std::int64_t>(n) * 1'000'000'000};
}

inline constexpr double gbit = 1e9;
/// Four hosts of one switch; links carry 200 Gbit/s.
inline constexpr const char* one_switch = "xgft:1;4;1";

struct FlowBench {
  explicit FlowBench(const char* spec) : fabric{*generate(spec)}, hosts{host_ports(fabric.description())} {
    fabric.set_change_listener(&plane);
    bring_up(fabric);
  }

  [[nodiscard]] PortIndex leaf_port(PortIndex host) const {
    const Port& port = fabric.description().port(host);
    return fabric.description().port_index(*fabric.description().peer({port.node, port.num}));
  }
  [[nodiscard]] LinkIndex link(PortIndex port) const { return fabric.description().port(port).link; }
  TrafficId add(std::size_t from, std::size_t to, BitRate demand = unlimited,
                Picoseconds at = Picoseconds{0}) {
    return *plane.add({.from = hosts[from], .to = hosts[to], .demand = demand}, at);
  }

  SimulatedFabric fabric;
  FabricView view{fabric};
  FlowPlane plane{view};
  std::vector<PortIndex> hosts;
};

}  // namespace heddle::sim
