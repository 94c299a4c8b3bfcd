#include "sim/packet/trunks.h"

#include <algorithm>
#include <vector>

namespace heddle::packet {
namespace {

/// Ports of a switch that lead to other switches, those to the same one side by side.
std::vector<std::uint32_t> links_by_neighbour(const Network& net, const SwitchElement& element) {
  std::vector<std::uint32_t> ports;
  for (std::uint32_t id = element.first_port + 1; id <= element.first_port + element.ports; ++id) {
    if (net.links[id].cabled && !net.ports[id].to_host) ports.push_back(id);
  }
  std::ranges::stable_sort(ports, {},
                           [&](std::uint32_t id) { return net.ports[net.ports[id].peer].at_switch; });
  return ports;
}

}  // namespace

void find_trunks(Network& net) {
  net.trunks.assign(net.ports.size(), {});
  for (const SwitchElement& element : net.switches) {
    const auto neighbour = [&](std::uint32_t id) { return net.ports[net.ports[id].peer].at_switch; };
    const std::vector<std::uint32_t> ports = links_by_neighbour(net, element);
    for (std::size_t i = 0; i < ports.size();) {
      std::size_t end = i;
      while (end < ports.size() && neighbour(ports[end]) == neighbour(ports[i])) ++end;
      const Trunk trunk{static_cast<std::uint32_t>(net.trunk_ports.size()),
                        static_cast<std::uint32_t>(end - i)};
      for (; i < end; ++i) {
        net.trunks[ports[i]] = trunk;
        net.trunk_ports.push_back(ports[i]);
      }
    }
  }
}

}  // namespace heddle::packet
