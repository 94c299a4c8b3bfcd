/// What other programs set in a simulated fabric, and tell nobody.
#pragma once

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

}  // namespace heddle::test
