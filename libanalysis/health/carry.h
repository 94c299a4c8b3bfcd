/// What is kept of each port goes on with the next snapshot.
#pragma once

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

#include "fabric/fabric.h"

namespace heddle::health {

/// `of_ports` by PortIndex of `before`, and then of `after`: a port that is in both keeps what it had.
template <class T>
void carry_over(const Fabric& before, const Fabric& after, std::vector<T>& of_ports) {
  std::vector<T> old = std::exchange(of_ports, std::vector<T>(after.ports().size()));
  for (const Node& node : after.nodes()) {
    const NodeIndex index = before.find_node(node.guid);
    if (index == no_node) continue;
    const Node& was = before.node(index);
    const std::size_t common = std::size_t{1} + std::min(node.port_count, was.port_count);
    for (std::size_t p = 0; p < common; ++p) {
      of_ports[node.first_port.raw() + p] = std::move(old[was.first_port.raw() + p]);
    }
  }
}

}  // namespace heddle::health
