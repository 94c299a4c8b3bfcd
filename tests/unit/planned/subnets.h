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

inline void remove(SubnetRecords& records, NodeGuid node) {
  std::erase_if(records.nodes, [&](const Node& each) { return each.guid == node; });
  std::erase_if(records.lids, [&](const PortLids& each) { return each.port.node == node; });
  std::erase_if(records.cables,
                [&](const Cable& each) { return each.link.a.node == node || each.link.b.node == node; });
}

inline LinkIndex find_link(const Fabric& fabric, const LinkRef& link) {
  return fabric.port(fabric.find_port(link.a)).link;
}

}  // namespace heddle::planned
