// Ports that did not say in a sweep what state they are in, where that was the only way to what is behind.

#include <gtest/gtest.h>

#include "provision_world.h"

namespace heddle::provision {
namespace {

/// Where a directed route from the daemon's port ends.
NodeIndex node_at(const World& world, const mad::DirectedRoute& route) {
  const Fabric& truth = world.truth();
  NodeIndex at = truth.port(world.sim.port()).node;
  for (unsigned hop = 1; hop <= route.hop_count; ++hop) at = truth.peer({at, route.initial_path[hop]})->node;
  return at;
}

/// From here on, what a switch answers about the state of this port is lost.
void lose_state_of(World& world, LinkEnd lost) {
  world.sim.receive_with([&world, lost](const mad::Packet& packet, Instant at) {
    const mad::Header header = mad::read_header(packet.mad);
    if (header.method == mad::Method::GetResp && header.mgmt_class == mad::MgmtClass::SubnDirected &&
        static_cast<mad::SmAttr>(header.attribute) == mad::SmAttr::PortInfo &&
        (header.modifier & 0xffU) == lost.port.raw() &&
        node_at(world, mad::read_directed_route(packet.mad)) == lost.node)
      return;
    world.sim.engine.on_packet(packet, at);
  });
}

/// Each port of a switch with a cable to a node that is reached over it alone: the only way of a sweep.
std::vector<LinkEnd> only_ways(const World& world) {
  const Fabric& truth = world.truth();
  const PortRef seat = truth.ref(world.sim.port());
  std::vector<LinkEnd> ends;
  for (const Link& link : truth.links()) {
    for (const LinkEnd end : {link.a, link.b}) {
      const LinkEnd far = *truth.peer(end);
      const bool outward = truth.node(end.node).type == NodeType::Switch && end.node < far.node;
      if (outward && truth.ref(far) != seat) ends.push_back(end);
    }
  }
  return ends;
}

// All that the sweep missed is what state one port is in (608181219 of the swarm: a leaf with one link that
// was on, and its hosts, had no entries for 0.3 s).
TEST(Provisioner, WhatIsBehindAPortThatDidNotAnswerGoesOnForwarding) {
  for (const std::size_t nth : {0U, 1U, 2U, 3U}) {
    KeptWorld kept{"mesh:3x1,hosts=1,links=1"};
    World& world = kept.world;
    ASSERT_FALSE(world.bring_up().failure);
    const std::vector<LinkEnd> ends = only_ways(world);
    ASSERT_EQ(ends.size(), 4U);
    lose_state_of(world, ends[nth]);
    const ProvisionReport& report = world.bring_up();
    ASSERT_FALSE(report.failure);
    EXPECT_EQ(report.survey->fabric->find_node(world.truth().node(world.truth().peer(ends[nth])->node).guid),
              no_node);
    EXPECT_EQ(report.blocks_written, 0U);
    expect_works(world);
  }
}

// The same in the first sweep of a daemon that was just started (562757326 and 510045568 of the swarm).
TEST(Provisioner, WhatIsBehindAPortThatNeverAnsweredIsGoneOnLedTo) {
  for (const std::size_t nth : {0U, 1U, 2U, 3U}) {
    KeptWorld kept{"mesh:3x1,hosts=1,links=1"};
    World& world = kept.world;
    ASSERT_FALSE(world.bring_up().failure);
    lose_state_of(world, only_ways(world)[nth]);
    const auto survey = found_anew(world);
    ASSERT_TRUE(survey);
    ASSERT_LT(survey->nodes.size(), world.truth().nodes().size());
    EXPECT_FALSE(run_anew(kept, survey).failure);
    expect_works(world);
  }
}

// It says who it is, and not what state its ports are in.
TEST(Provisioner, ASwitchWhosePortsDoNotAnswerGoesOnForwarding) {
  KeptWorld kept{"torus:4x4,hosts=1,links=1"};
  World& world = kept.world;
  const auto whole = world.bring_up().survey;
  ASSERT_TRUE(whole);
  auto survey = std::make_shared<Survey>(*whole);
  const NodeIndex silent = whole->fabric->find_node(world.truth().node(world.switch_at(8)).guid);
  FabricBuilder builder;
  for (std::uint32_t i = 0; i < whole->fabric->nodes().size(); ++i) {
    const Node& node = whole->fabric->nodes()[i];
    (void)builder.add_node(node);
    for (unsigned p = 0; p <= node.port_count; ++p) {
      Port port = whole->fabric->port(PortIndex{node.first_port.raw() + p});
      if (NodeIndex{i} == silent && p > 0) {
        port.state = PortState::Down;
        survey->nodes[i].ports[p] = {};
      }
      ASSERT_TRUE(builder.set_port(NodeIndex{i}, port));
    }
  }
  for (const Link& link : whole->fabric->links()) {
    if (link.a.node == silent || link.b.node == silent) continue;
    ASSERT_TRUE(builder.add_link(link.a, link.b, link.width, link.speed));
  }
  survey->fabric = builder.build(whole->fabric->epoch() + 1);
  world.sm.configure(survey, world.sim.now);
  kept.settle();
  ASSERT_EQ(world.reports.size(), 2U);
  const ProvisionReport& report = world.reports.back();
  ASSERT_FALSE(report.failure);
  EXPECT_EQ(report.blocks_written, 0U);
  expect_works(world);
}

}  // namespace
}  // namespace heddle::provision
