/// Subnets as OpenSM would find them, from generated fabrics.
#pragma once

#include <gtest/gtest.h>

#include <string>

#include "fabric/generators.h"
#include "planned/subnet.h"

namespace heddle::planned {

inline std::shared_ptr<const Fabric> fabric_of(const std::string& spec, std::uint8_t lmc = 0) {
  const auto generated = generate(parse_generator_spec(spec).value()).value();
  return assign_lids(*generated, lmc).value();
}

/// All cables Active.
inline SubnetRecords records_of(const Fabric& fabric) {
  SubnetRecords records;
  for (const Node& node : fabric.nodes()) records.nodes.push_back(node);
  for (std::uint32_t i = 0; i < fabric.ports().size(); ++i) {
    const Port& port = fabric.ports()[i];
    if (port.lid != no_lid) records.lids.push_back({fabric.ref(PortIndex{i}), port.guid, port.lid, port.lmc});
  }
  for (const Link& link : fabric.links()) {
    const bool switches = fabric.node(link.a.node).type == NodeType::Switch &&
                          fabric.node(link.b.node).type == NodeType::Switch;
    records.cables.push_back({link_ref(fabric, link), true, switches});
  }
  return records;
}

/// The cables between switches, in the order of the records.
inline std::vector<LinkRef> trunks_of(const SubnetRecords& records) {
  std::vector<LinkRef> result;
  for (const Cable& cable : records.cables) {
    if (cable.joins_switches) result.push_back(cable.link);
  }
  return result;
}

inline void remove(SubnetRecords& records, const LinkRef& link) {
  std::erase_if(records.cables, [&](const Cable& cable) { return cable.link == link; });
}

inline LinkIndex find_link(const Fabric& fabric, const LinkRef& link) {
  return fabric.port(fabric.find_port(link.a)).link;
}

}  // namespace heddle::planned
