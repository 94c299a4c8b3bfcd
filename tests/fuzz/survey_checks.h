/// What every part of the daemon takes for granted of a survey, whatever the nodes answered. For fuzz
/// targets.
#pragma once

#include "fuzz/fuzz_target.h"
#include "mad/header.h"
#include "mad/survey.h"

namespace heddle::fuzz {

inline void check(const Survey& survey) {
  const Fabric& fabric = *survey.fabric;
  require(survey.nodes.size() == fabric.nodes().size(), "a survey has a record of each node");
  require(survey.local.raw() < fabric.nodes().size(), "the local node is in the survey");
  const LinkEnd own = survey.own_port();
  require(own.port.raw() < survey.node(own.node).ports.size(), "the daemon sits on a port");
  for (std::uint32_t i = 0; i < fabric.nodes().size(); ++i) {
    const SurveyNode& node = survey.nodes[i];
    require(node.guid() == fabric.nodes()[i].guid, "a record stands where its node does");
    require(node.ports.size() == std::size_t{fabric.nodes()[i].port_count} + 1, "a record of each port");
    require(node.path.size() <= mad::DirectedRoute::max_hops, "a directed route fits an SMP");
  }
  for (const Link& link : fabric.links()) {
    for (const LinkEnd& end : {link.a, link.b}) {
      require(end.node.raw() < fabric.nodes().size(), "a link ends at a node");
      require(end.port != PortNum{0} && end.port.raw() <= fabric.node(end.node).port_count,
              "a link ends at a port that can have a cable");
    }
  }
}

}  // namespace heddle::fuzz
