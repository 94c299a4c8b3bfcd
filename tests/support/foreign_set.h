/// What other programs set in a simulated fabric, and tell nobody.
#pragma once

#include <cstddef>
#include <cstdint>

#include "mad/attributes.h"
#include "mad/header.h"
#include "sim/simulated_fabric.h"

namespace heddle::test {

/// By an SMP to the agent of a switch. False: discarded.
template <class Attribute>
[[nodiscard]] bool set_at(sim::SimulatedFabric& fabric, NodeIndex node, mad::SmAttr attribute,
                          std::uint32_t modifier, const Attribute& value, Picoseconds now) {
  mad::Bytes smp{};
  mad::write_header(
      {.method = mad::Method::Set, .attribute = static_cast<std::uint16_t>(attribute), .modifier = modifier},
      smp);
  mad::encode(value, mad::smp_data(smp));
  return fabric.ask(fabric.description().node(node).first_port, smp, now);
}

/// One entry of a forwarding table, with all others of its block as they are. False: discarded.
inline bool write_entry(sim::SimulatedFabric& fabric, NodeIndex sw, std::size_t lid, PortNum port,
                        Picoseconds now) {
  const auto held = fabric.forwarding_table(sw);
  mad::LftBlock block;
  const std::size_t first = lid / block.ports.size() * block.ports.size();
  for (std::size_t i = 0; i < block.ports.size(); ++i)
    block.ports[i] = first + i < held.size() ? held[first + i] : no_path;
  block.ports[lid - first] = port;
  const auto modifier = static_cast<std::uint32_t>(first / block.ports.size());
  return set_at(fabric, sw, mad::SmAttr::LinearForwardingTable, modifier, block, now);
}

}  // namespace heddle::test
