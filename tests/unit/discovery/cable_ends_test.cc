// The two ends of a cable, asked one after the other: what one says, and the other one does not.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <tuple>

#include "discovery_world.h"

namespace heddle::discovery {
namespace {

using namespace std::chrono_literals;

// A switch that is slow may not answer over one of its cables, and say itself what that leads to (2000001376
// of the swarm: a link that was Active counted as lost).
TEST(Discovery, ACableThatOneEndSpeaksOfIsThere) {
  World world{"torus:4x4,hosts=1,links=1", {}, {.change_bits = ChangeBits::Clear}};
  world.full();
  const Fabric& truth = world.truth();
  std::size_t tried = 0;
  for (const Link& link : truth.links()) {
    const auto is_switch = [&](LinkEnd end) { return truth.node(end.node).type == NodeType::Switch; };
    if (!is_switch(link.a) || !is_switch(link.b)) continue;
    // Nobody is heard over the cable from its one end.
    world.sim.receive_with([&](const mad::Packet& packet, Instant at) {
      const mad::Header header = mad::read_header(packet.mad);
      NodeIndex node = truth.port(world.sim.port()).node;
      if (header.method == mad::Method::GetResp && header.mgmt_class == mad::MgmtClass::SubnDirected &&
          static_cast<mad::SmAttr>(header.attribute) == mad::SmAttr::NodeInfo) {
        const mad::DirectedRoute route = mad::read_directed_route(packet.mad);
        for (unsigned hop = 1; hop < route.hop_count; ++hop)
          node = truth.peer({node, route.initial_path[hop]})->node;
        if (route.hop_count > 1 && LinkEnd{node, route.initial_path[route.hop_count]} == link.a) return;
      }
      world.sim.engine.on_packet(packet, at);
    });
    const std::vector<NodeGuid> both{truth.node(link.a.node).guid, truth.node(link.b.node).guid};
    world.discovery.rediscover(both, world.sim.now);
    const SweepReport& report = world.finish();
    tried += report.kind == SweepKind::Partial ? 1 : 0;
    EXPECT_EQ(report.survey->fabric->links().size(), truth.links().size())
        << "link " << link.a.node.raw() << '/' << unsigned{link.a.port.raw()};
    world.sim.receive_with(
        [&world](const mad::Packet& packet, Instant at) { world.sim.engine.on_packet(packet, at); });
    world.full();
  }
  EXPECT_GT(tried, 0U);
}

// No more than 63 hops fit into a MAD's path (IBA 14.2.2).
TEST(Discovery, ALargeRingThatLosesACableIsSeenAsFarAsAWayCanLead) {
  World world{"torus:120,hosts=1,links=1", {}, {.change_bits = ChangeBits::Clear}};
  ASSERT_EQ(world.full().survey->fabric->nodes().size(), world.truth().nodes().size());
  const Port& own = world.truth().port(world.sim.port());
  const NodeIndex first = world.truth().peer({own.node, own.num})->node;
  for (const Link& link : world.truth().links()) {
    const NodeIndex other = link.a.node == first ? link.b.node : link.a.node;
    if ((link.a.node != first && link.b.node != first) || other == own.node) continue;
    world.sim.fabric.cut(world.truth().port(world.truth().port_index(link.a)).link, world.ps());
    break;
  }
  const auto expect_short = [](const SweepReport& report) {
    for (const SurveyNode& node : report.survey->nodes)
      EXPECT_LE(node.path.size(), mad::DirectedRoute::max_hops);
  };
  const std::vector<NodeGuid> suspect{world.truth().node(first).guid};
  world.discovery.rediscover(suspect, world.sim.now);
  expect_short(world.finish());
  for (int i = 0; i < 3; ++i) expect_short(world.light());
  expect_short(world.full());
  EXPECT_LT(world.discovery.survey()->fabric->nodes().size(), world.truth().nodes().size());
}

// A switch is asked port by port: while links trained that had been ordered on, one end of a link said that
// it was down, and then the other one that it was up.
class CableDuringASweep : public testing::TestWithParam<std::tuple<SweepKind, bool>> {};

TEST_P(CableDuringASweep, IsNotOneSidedWhereverTheSweepHasGot) {
  const auto [kind, comes] = GetParam();
  sim::Options options;
  options.training_delay = 0s;
  World world{"tree:k=3,n=2", options, {.change_bits = ChangeBits::Clear}};
  sim::SimulatedFabric& fabric = world.sim.fabric;
  const Fabric& truth = world.truth();
  const auto at_switch = [&](LinkEnd end) { return truth.node(end.node).type == NodeType::Switch; };
  LinkIndex cable{0};
  while (!at_switch(truth.link(cable).a) || !at_switch(truth.link(cable).b))
    cable = LinkIndex{cable.raw() + 1};
  const Link& link = truth.link(cable);
  const std::vector<NodeGuid> both{truth.node(link.a.node).guid, truth.node(link.b.node).guid};
  const auto answered = [&] { return world.sim.engine.statistics().answered; };
  const auto plug = [&](bool in) { in ? fabric.mend(cable, world.ps()) : fabric.cut(cable, world.ps()); };
  std::size_t early = 0;
  std::size_t late = 0;
  for (std::size_t heard = 0; late < 2; ++heard) {
    plug(!comes);
    const std::size_t links = world.full().survey->fabric->links().size();
    const std::size_t reports = world.reports.size();
    const auto before = answered();
    if (kind == SweepKind::Full) {
      world.discovery.full(world.sim.now);
    } else {
      world.discovery.rediscover(both, world.sim.now);
    }
    ASSERT_TRUE(
        world.sim.run([&] { return answered() - before >= heard || world.reports.size() > reports; }));
    plug(comes);
    ASSERT_TRUE(world.sim.run([&] { return world.reports.size() > reports; }));
    const SweepReport& report = world.reports[reports];
    // A cable that goes may take answers along, of which something else is said.
    if (comes) {
      EXPECT_EQ(count(report, ProblemKind::OneSidedLink), 0U) << "after " << heard << ": " << texts(report);
    }
    EXPECT_THAT(texts(report), testing::Not(testing::HasSubstr("says that it is down"))) << "after " << heard;
    ++(report.survey->fabric->links().size() != links ? early : late);
    while (world.discovery.busy()) world.finish();
  }
  EXPECT_GT(early, 5U);
}

INSTANTIATE_TEST_SUITE_P(Discovery, CableDuringASweep,
                         testing::Combine(testing::Values(SweepKind::Full, SweepKind::Partial),
                                          testing::Bool()));

// The own host's agent need not be as quick over the fabric as it is at home (6000000045 of the swarm: the
// daemon took its own LID out of all tables).
TEST(Discovery, TheOwnCableIsThereThoughTheOwnAgentIsSilentOverIt) {
  World world{"tree:k=3,n=2", {}, {.change_bits = ChangeBits::Clear}};
  world.full();
  const Fabric& truth = world.truth();
  const Port& own = truth.port(world.sim.port());
  const LinkEnd leaf = *truth.peer({own.node, own.num});
  world.sim.receive_with([&](const mad::Packet& packet, Instant at) {
    const mad::Header header = mad::read_header(packet.mad);
    if (header.method == mad::Method::GetResp && header.mgmt_class == mad::MgmtClass::SubnDirected) {
      const mad::DirectedRoute route = mad::read_directed_route(packet.mad);
      if (route.hop_count == 2 && route.initial_path[2] == leaf.port) return;
    }
    world.sim.engine.on_packet(packet, at);
  });
  const std::vector<NodeGuid> asked{truth.node(leaf.node).guid};
  world.discovery.rediscover(asked, world.sim.now);
  const SweepReport& report = world.finish();
  EXPECT_EQ(report.kind, SweepKind::Partial);
  EXPECT_EQ(report.survey->port({report.survey->local, own.num}).info.state, PortState::Init);
  EXPECT_EQ(report.survey->fabric->links().size(), truth.links().size());
}

}  // namespace
}  // namespace heddle::discovery
