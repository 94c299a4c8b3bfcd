#include "sim/packet/levels.h"

#include <limits>
#include <vector>

namespace heddle::packet {
namespace {

constexpr std::uint8_t unreachable = std::numeric_limits<std::uint8_t>::max();

using Graph = SwitchGraphLists;

/// Breadth first from all of `frontier` at once; distances beyond 254 count as unreachable.
std::vector<std::uint8_t> distances(const Graph& graph, std::vector<std::uint32_t> frontier) {
  std::vector<std::uint8_t> at(graph.size(), unreachable);
  for (const std::uint32_t s : frontier) at[s] = 0;
  for (std::uint8_t next = 1; !frontier.empty() && next < unreachable; ++next) {
    std::vector<std::uint32_t> found;
    for (const std::uint32_t s : frontier) {
      for (const std::uint32_t n : graph[s]) {
        if (at[n] != unreachable) continue;
        at[n] = next;
        found.push_back(n);
      }
    }
    frontier = std::move(found);
  }
  return at;
}

}  // namespace

SwitchGraphLists switch_neighbours(const Network& net) {
  SwitchGraphLists graph(net.switches.size());
  for (std::uint32_t id = 0; id < net.ports.size(); ++id) {
    const Port& port = net.ports[id];
    if (port.host_side || port.to_host || !net.links[id].cabled) continue;
    graph[port.at_switch].push_back(net.ports[port.peer].at_switch);
  }
  return graph;
}

void find_levels(Network& net) {
  const Graph graph = switch_neighbours(net);
  std::vector<std::uint32_t> leaves;
  for (const HostElement& host : net.hosts) {
    if (host.leaf != nothing) leaves.push_back(host.leaf);
  }
  const std::vector<std::uint8_t> level = distances(graph, leaves);
  for (std::uint32_t id = 0; id < net.ports.size(); ++id) {
    const Port& port = net.ports[id];
    if (port.host_side || port.to_host || !net.links[id].cabled) continue;
    const std::uint32_t above = net.ports[port.peer].at_switch;
    if (level[above] <= level[port.at_switch]) continue;
    net.links[id].upward = true;
    SwitchElement& element = net.switches[port.at_switch];  // the ports of a switch lie side by side
    if (element.uplinks++ == 0) element.first_uplink = static_cast<std::uint32_t>(net.uplinks.size());
    net.uplinks.push_back({id, above});
  }
  net.distance.clear();
  for (std::uint32_t s = 0; s < graph.size(); ++s) {
    const auto row = distances(graph, {s});
    net.distance.insert(net.distance.end(), row.begin(), row.end());
  }
}

}  // namespace heddle::packet
