// Light sweeps: what has changed since, by change bits and traps.

#include <gtest/gtest.h>

#include <algorithm>

#include "discovery_world.h"

namespace heddle::discovery {
namespace {

using namespace std::chrono_literals;

class LightSweepTest : public testing::Test {
 protected:
  void SetUp() override {
    world.full();
    // Training raised change bits: a first sweep by a subnet manager clears them.
    const SweepReport& report = world.light();
    ASSERT_EQ(report.kind, SweepKind::Light);
    ASSERT_EQ(report.survey, world.reports.front().survey);
  }
  World world{"tree:k=3,n=3", {}, {.change_bits = ChangeBits::Clear}};
};

TEST_F(LightSweepTest, NothingChangedCostsOneMadANodeAndOneForTheOwnPort) {
  const auto before = world.sim.engine.statistics().sent;
  world.light();
  EXPECT_EQ(world.sim.engine.statistics().sent - before, world.truth().nodes().size() + 1) << "the own port";
}

TEST_F(LightSweepTest, CutLinkIsFoundWithFewMads) {
  const LinkIndex link{static_cast<std::uint32_t>(world.truth().links().size() - 1)};
  world.sim.fabric.cut(link, world.ps());
  const auto before = world.sim.engine.statistics().sent;
  const SweepReport& report = world.light();
  EXPECT_EQ(report.kind, SweepKind::Partial);
  const FabricChange change = compare(*report.before->fabric, *report.survey->fabric);
  EXPECT_EQ(change.links_removed.size(), 1U);
  EXPECT_LT(world.sim.engine.statistics().sent - before, world.truth().nodes().size() + 60);

  world.sim.fabric.mend(link, world.ps());
  const SweepReport& again = world.light();
  EXPECT_EQ(again.kind, SweepKind::Partial);
  expect_same_graph(*again.survey->fabric, world.truth());
  EXPECT_TRUE(again.problems.empty()) << texts(again);
}

// World 6000010316 of the swarm: what had been said meanwhile was forgotten, and status said for minutes that
// the local node did not answer.
TEST_F(LightSweepTest, WhatAFullSweepFailedToDoIsMadeUpFor) {
  const NodeIndex own = world.truth().port(world.sim.port()).node;
  world.sim.fabric.set_agent_faults(own, {.mute_sma = true});
  ASSERT_TRUE(world.full().failure);
  world.sim.fabric.set_agent_faults(own, {});
  const SweepReport& report = world.light();
  EXPECT_EQ(report.kind, SweepKind::Full);
  EXPECT_FALSE(report.failure);
  EXPECT_EQ(world.light().kind, SweepKind::Light);
}

TEST_F(LightSweepTest, EveryLinkThatIsCutAndMendedIsFound) {
  for (std::uint32_t i = 0; i < world.truth().links().size(); i += 5) {
    const Link& link = world.truth().link(LinkIndex{i});
    const NodeIndex own = world.truth().port(world.sim.port()).node;
    if (link.a.node == own || link.b.node == own) continue;
    world.sim.fabric.cut(LinkIndex{i}, world.ps());
    const SweepReport& report = world.light();
    ASSERT_FALSE(report.failure) << report.failure->message;
    const bool host = world.truth().node(link.a.node).type != NodeType::Switch ||
                      world.truth().node(link.b.node).type != NodeType::Switch;
    EXPECT_EQ(report.survey->fabric->links().size(), world.truth().links().size() - 1) << "link " << i;
    EXPECT_EQ(report.survey->fabric->nodes().size(), world.truth().nodes().size() - (host ? 1 : 0));
    world.sim.fabric.mend(LinkIndex{i}, world.ps());
    const SweepReport& back = world.light();
    expect_same_graph(*back.survey->fabric, world.truth());
  }
}

// With the own cable gone, or the switch at its other end, there is nobody to ask but the own port.
TEST_F(LightSweepTest, TheOwnCableThatComesBackIsFound) {
  const PortIndex own = world.sim.port();
  const LinkIndex cable = world.truth().port(own).link;
  world.sim.fabric.cut(cable, world.ps());
  const SweepReport& alone = world.light();
  ASSERT_FALSE(alone.failure) << alone.failure->message;
  EXPECT_EQ(alone.survey->fabric->nodes().size(), 1U);
  EXPECT_EQ(count(alone, ProblemKind::OwnPort), 1U) << texts(alone);
  const auto survey = alone.survey;
  EXPECT_EQ(world.light().survey, survey) << "nothing has changed";
  world.sim.fabric.mend(cable, world.ps());
  const SweepReport& back = world.light();
  ASSERT_FALSE(back.failure) << back.failure->message;
  expect_same_graph(*back.survey->fabric, world.truth());
  EXPECT_TRUE(back.problems.empty()) << texts(back);
}

TEST_F(LightSweepTest, TheOwnSwitchThatComesBackIsFound) {
  const NodeIndex leaf = world.truth().peer({world.truth().port(world.sim.port()).node, PortNum{1}})->node;
  world.sim.fabric.kill(leaf, world.ps());
  EXPECT_EQ(world.light().survey->fabric->nodes().size(), 1U);
  world.sim.fabric.revive(leaf, world.ps());
  expect_same_graph(*world.light().survey->fabric, world.truth());
}

TEST_F(LightSweepTest, KilledSwitchAndHostAreFound) {
  const NodeIndex spine = world.switch_at(20);
  world.sim.fabric.kill(spine, world.ps());
  const SweepReport& report = world.light();
  EXPECT_EQ(report.survey->fabric->nodes().size(), world.truth().nodes().size() - 1);
  world.sim.fabric.revive(spine, world.ps());
  expect_same_graph(*world.light().survey->fabric, world.truth());
}

TEST_F(LightSweepTest, MuteHostIsLeftOutUntilItAnswersAgain) {
  const NodeIndex host{static_cast<std::uint32_t>(world.truth().nodes().size() - 1)};
  world.sim.fabric.set_agent_faults(host, {.mute_sma = true});
  const SweepReport& report = world.light();
  EXPECT_EQ(report.survey->fabric->find_node(world.truth().node(host).guid), no_node);
  EXPECT_EQ(count(report, ProblemKind::SilentPort), 1U) << texts(report);
  world.sim.fabric.set_agent_faults(host, {});
  const SweepReport& again = world.light();
  expect_same_graph(*again.survey->fabric, world.truth());
  EXPECT_TRUE(again.problems.empty()) << texts(again);
}

TEST_F(LightSweepTest, WhatIsAskedDuringASweepComesAfterIt) {
  const auto before = world.reports.size();
  world.discovery.full(world.sim.now);
  world.discovery.light(world.sim.now);
  world.discovery.full(world.sim.now);
  ASSERT_TRUE(world.sim.run([&] { return world.reports.size() == before + 2; }));
  EXPECT_FALSE(world.discovery.busy());
  EXPECT_EQ(world.reports.back().kind, SweepKind::Full);
}

TEST_F(LightSweepTest, SwitchThatWasSilentIsBackWithTheFirstSweepThatMeetsIt) {
  const NodeIndex spine = world.switch_at(20);
  world.sim.fabric.set_agent_faults(spine, {.mute_sma = true});
  EXPECT_EQ(world.light().survey->fabric->nodes().size(), world.truth().nodes().size() - 1);
  world.sim.fabric.set_agent_faults(spine, {});
  world.discovery.full(world.sim.now);
  expect_same_graph(*world.finish().survey->fabric, world.truth());
}

TEST_F(LightSweepTest, WhatIsAskedWhileHeldComesAfterTheRelease) {
  const auto before = world.reports.size();
  world.discovery.hold();
  world.discovery.full(world.sim.now);
  world.discovery.light(world.sim.now);
  EXPECT_FALSE(world.discovery.busy());
  EXPECT_FALSE(world.sim.run([&] { return world.reports.size() > before; }));
  world.discovery.release(world.sim.now);
  EXPECT_TRUE(world.sim.run([&] { return world.reports.size() > before; }));
  EXPECT_EQ(world.reports.back().kind, SweepKind::Full);
}

TEST_F(LightSweepTest, WaysOverACutLinkAreFoundAnewWithoutAFullSweep) {
  for (std::uint32_t i = 0; i < world.truth().links().size(); ++i) {
    const Link& link = world.truth().link(LinkIndex{i});
    if (world.truth().node(link.a.node).type != NodeType::Switch ||
        world.truth().node(link.b.node).type != NodeType::Switch) {
      continue;
    }
    world.sim.fabric.cut(LinkIndex{i}, world.ps());
    const SweepReport& report = world.light();
    EXPECT_EQ(report.kind, SweepKind::Partial) << "link " << i;
    EXPECT_EQ(report.survey->fabric->links().size(), world.truth().links().size() - 1) << "link " << i;
    EXPECT_EQ(report.survey->fabric->nodes().size(), world.truth().nodes().size()) << "link " << i;
    world.sim.fabric.mend(LinkIndex{i}, world.ps());
    expect_same_graph(*world.light().survey->fabric, world.truth());
  }
}

/// A host with a cable to each of three switches, which are joined to one another.
std::shared_ptr<const Fabric> three_ways() {
  FabricBuilder builder;
  const auto add = [&](NodeType type, std::uint64_t guid) {
    Node node;
    node.type = type;
    node.guid = NodeGuid{guid};
    node.port_count = 3;
    node.description = "node " + std::to_string(guid);
    return *builder.add_node(node);
  };
  const NodeIndex host = add(NodeType::ChannelAdapter, 1);
  const NodeIndex a = add(NodeType::Switch, 11);
  const NodeIndex b = add(NodeType::Switch, 12);
  const NodeIndex c = add(NodeType::Switch, 13);
  const auto join = [&](NodeIndex x, unsigned p, NodeIndex y, unsigned q) {
    (void)builder.add_link({x, PortNum{static_cast<std::uint8_t>(p)}},
                           {y, PortNum{static_cast<std::uint8_t>(q)}}, LinkWidth::X4, LinkSpeed::Hdr);
  };
  join(a, 2, b, 3);
  join(b, 2, c, 3);
  join(c, 2, a, 3);
  join(host, 1, a, 1);
  join(host, 2, b, 1);
  join(host, 3, c, 1);
  return builder.build();
}

// A directed route that begins at another port of the host is sent by nobody (825887577 of the swarm: tables
// of the switch at the other port were not confirmed any more).
TEST(Discovery, WaysThatAreFoundAnewBeginAtTheOwnPort) {
  World world{three_ways(), {}, {.change_bits = ChangeBits::Clear}};
  world.full();
  world.light();
  const LinkEnd to_b{world.truth().find_node(NodeGuid{11}), PortNum{2}};
  world.sim.fabric.cut(world.truth().port(to_b).link, world.ps());
  const SweepReport& report = world.light();
  ASSERT_FALSE(report.failure);
  EXPECT_EQ(report.kind, SweepKind::Partial);
  EXPECT_EQ(report.survey->fabric->nodes().size(), world.truth().nodes().size());
  const PortNum own = report.survey->node(report.survey->local).info.local_port;
  for (const SurveyNode& node : report.survey->nodes) {
    if (node.is_switch()) {
      EXPECT_EQ(node.path.front(), own) << node.guid().raw();
    }
  }
}

/// Beside a subnet manager that resets every change bit before this one looks.
class WatchingSweep : public testing::Test {
 protected:
  void SetUp() override { world.full(); }
  const SweepReport& light_after_the_master() {
    discovery::Discovery master{
        world.sim.engine, {.change_bits = ChangeBits::Clear}, [](const SweepReport&) {}};
    master.full(world.sim.now);
    EXPECT_TRUE(world.sim.run([&] { return !master.busy(); }));
    return world.light();
  }
  World world{"tree:k=3,n=3", {}, {.change_bits = ChangeBits::Leave}};
};

TEST_F(WatchingSweep, NothingChangedCostsOneMadASwitchPortAndHost) {
  std::size_t expected = 1;  // the own port
  for (const Node& node : world.truth().nodes()) {
    expected += node.type == NodeType::Switch ? node.port_count + 1U : 1U;
  }
  const auto before = world.sim.engine.statistics().sent;
  EXPECT_EQ(world.light().kind, SweepKind::Light);
  EXPECT_EQ(world.sim.engine.statistics().sent - before, expected);
}

TEST_F(WatchingSweep, EveryLinkThatIsCutAndMendedIsFound) {
  for (std::uint32_t i = 0; i < world.truth().links().size(); i += 7) {
    const Link& link = world.truth().link(LinkIndex{i});
    const NodeIndex own = world.truth().port(world.sim.port()).node;
    if (link.a.node == own || link.b.node == own) continue;
    world.sim.fabric.cut(LinkIndex{i}, world.ps());
    EXPECT_EQ(light_after_the_master().survey->fabric->links().size(), world.truth().links().size() - 1)
        << "link " << i;
    world.sim.fabric.mend(LinkIndex{i}, world.ps());
    expect_same_graph(*light_after_the_master().survey->fabric, world.truth());
  }
}

TEST_F(WatchingSweep, KilledSwitchIsFound) {
  const NodeIndex spine = world.switch_at(20);
  world.sim.fabric.kill(spine, world.ps());
  EXPECT_EQ(light_after_the_master().survey->fabric->nodes().size(), world.truth().nodes().size() - 1);
  world.sim.fabric.revive(spine, world.ps());
  expect_same_graph(*light_after_the_master().survey->fabric, world.truth());
}

TEST(Discovery, TrapLeadsToThatSwitch) {
  World world{"tree:k=3,n=2", {}, {.change_bits = ChangeBits::Clear}};
  world.full();
  mad::Notice notice;
  notice.trap = 128;
  notice.set_data_lid(Lid{77});  // unknown: a look at everything
  world.discovery.on_notice(notice, world.sim.now);
  EXPECT_EQ(world.finish().kind, SweepKind::Light);
}

// World 3000024 of the swarm: a busy daemon heard of nothing but links that had trained anew.
TEST(Discovery, WhatIsBehindALinkThatHasTrainedAnewIsAskedAgain) {
  World world{"tree:k=3,n=2", {}, {.change_bits = ChangeBits::Clear}};
  sim::bring_up(world.sim.fabric);
  world.full();
  std::size_t nth = 0;
  const auto below = [&] { return world.truth().peer({world.switch_at(nth), PortNum{1}})->node; };
  while (world.truth().node(below()).type != NodeType::Switch) ++nth;
  const NodeIndex spine = world.switch_at(nth);
  const NodeIndex leaf = below();
  const NodeGuid restarted = world.truth().node(spine).guid;
  const auto lid_of_spine = [&] {
    const Fabric& seen = *world.discovery.survey()->fabric;
    return seen.port({seen.find_node(restarted), PortNum{0}}).lid;
  };
  ASSERT_NE(lid_of_spine(), no_lid);
  world.sim.fabric.kill(spine, world.ps());
  world.sim.fabric.revive(spine, world.ps());
  const PortIndex end = world.truth().port_index(*world.truth().peer({spine, PortNum{1}}));
  ASSERT_TRUE(world.sim.run([&] { return world.sim.fabric.port_info(end).state == PortState::Init; }));
  mad::Notice notice;
  notice.generic = true;
  notice.trap = 128;
  notice.set_data_lid(world.sim.fabric.port_info(world.truth().port_index({leaf, PortNum{0}})).lid);
  world.discovery.on_notice(notice, world.sim.now);
  EXPECT_EQ(world.finish().kind, SweepKind::Partial);
  EXPECT_EQ(lid_of_spine(), no_lid) << "it was restarted";
}

TEST(Discovery, TrapsWithoutEndCauseOneSweepAtATime) {
  World world{"tree:k=3,n=3"};
  sim::bring_up(world.sim.fabric);
  world.full();
  const std::size_t before = world.reports.size();
  for (int i = 0; i < 100; ++i) flood_with_traps(world);
  ASSERT_TRUE(world.sim.run([&] { return !world.discovery.busy(); }));
  EXPECT_LE(world.reports.size() - before, 2U) << "one that was under way, and one of what came meanwhile";
}

}  // namespace
}  // namespace heddle::discovery
