/// Fabrics with programmed tables for tests and benchmarks of the packet simulator.
#pragma once

#include <memory>
#include <string>

#include "fabric/generators.h"
#include "routing/minhop.h"
#include "sim/experiment/rings.h"
#include "sim/packet/packet_sim.h"

namespace heddle::packet::testing_support {

struct Plant {
  std::shared_ptr<const Fabric> fabric;
  Programming programming;
};

/// Dimension order in a torus or mesh from `generate`: the last dimension first, the shorter way round, links
/// of a trunk by target.
inline routing::ForwardingTables dimension_order(const Fabric& fabric, const GridSpec& spec) {
  const auto graph = *routing::SwitchGraph::make(fabric);
  routing::ForwardingTables tables{graph};
  const auto dimensions = spec.size.size();
  for (const routing::Target& target : graph.targets()) {
    for (std::uint32_t s = 0; s < graph.size(); ++s) {
      unsigned port = target.out.raw();
      std::size_t stride = 1;
      for (std::size_t d = dimensions; d-- > 0; stride *= spec.size[d]) {
        const unsigned size = spec.size[d];
        const unsigned from = s / stride % size;
        const unsigned to = target.at.raw() / stride % size;
        if (from == to) continue;
        bool onward = to > from;
        if (spec.form == GridForm::Torus) onward = (to + size - from) % size <= size / 2;
        if (size == 2) onward = to > from;
        port = spec.hosts + static_cast<unsigned>(2 * d + (onward ? 0 : 1)) * spec.links + 1 +
               target.base.raw() % spec.links;
        break;
      }
      tables.set(routing::SwitchIndex{s}, target.base, PortNum{static_cast<std::uint8_t>(port)});
    }
  }
  return tables;
}

inline Plant plant(const std::string& text) {
  const GeneratorSpec spec = *parse_generator_spec(text);
  Plant made;
  made.fabric = *assign_lids(**generate(spec));
  if (const auto* grid = std::get_if<GridSpec>(&spec.shape)) {
    made.programming.forwarding = dimension_order(*made.fabric, *grid);
    if (grid->form == GridForm::Torus) made.programming.rings = *torus_rings(*made.fabric, *grid);
  } else {
    const auto graph = *routing::SwitchGraph::make(*made.fabric);
    made.programming.forwarding = routing::route_minhop(graph, routing::LinkSet::all(*made.fabric));
  }
  return made;
}

/// Private VLs, SL i on VL i modulo the VLs of one class.
inline DataPlane plane(int vls, std::int32_t max_packet, std::int32_t buffer_flits_per_vl) {
  DataPlane made;
  made.vls = vls;
  made.max_packet = max_packet;
  made.input_flits = made.output_flits = made.host_flits = buffer_flits_per_vl * vls;
  made.central_flits = 2 * buffer_flits_per_vl * vls;
  for (std::size_t sl = 0; sl < 32; ++sl)
    made.sl_to_vl[sl] = static_cast<std::uint8_t>(sl % static_cast<unsigned>(vls));
  return made;
}

inline PacketSim simulator(const Plant& at, const DataPlane& with) {
  return *PacketSim::make(*build_network(at.fabric, at.programming, with));
}

}  // namespace heddle::packet::testing_support
