// Links that go off and come back beside OpenSM: when their ports are set, and when not.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "mad/port_set.h"
#include "support/foreign_set.h"
#include "unit/opensm/actuator_world.h"

namespace heddle::opensm {
namespace {

using namespace std::chrono_literals;
using regulate::LinkTo;
using testing::HasSubstr;
using Kind = PluginEvent::Kind;

/// What was sent by the tables before may still be on its way there.
TEST(OpenSmActuator, ALinkGoesOffWhenNoPacketCanBeOnItsWayThereAnyMore) {
  World world("tree:k=3,n=2");
  const LinkRef link = world.trunk(0);
  world.blocks = 1;
  world.packet_life = 1s;
  ASSERT_TRUE(world.write(std::nullopt, {link}));
  world.blocks = 0;
  std::optional<regulate::LinkOutcome> answer;
  world.actuator->set_links({{link, link.a, LinkTo::Off, World::full()}}, world.sim.now,
                            [&](const auto& outcomes, Instant) { answer = outcomes.at(0); });
  EXPECT_FALSE(world.run([&] { return answer.has_value(); }, 900ms));
  EXPECT_EQ(world.state_of(link.a), PortState::Active);
  EXPECT_TRUE(world.run([&] { return answer.has_value(); }));
  EXPECT_FALSE(answer->failure);
  EXPECT_EQ(world.state_of(link.a), PortState::Down);
}

/// Its traps go to OpenSM. With light sweeps minutes apart each link that had gone off was taken for one that
/// had come back, and brought back.
TEST(OpenSmActuator, HasThePortsLookedAtThatItHasSet) {
  World world("tree:k=3,n=2");
  const LinkRef link = world.trunk(0);
  ASSERT_TRUE(world.write(std::nullopt, {link}));
  for (const LinkTo to : {LinkTo::Off, LinkTo::On}) {
    world.looked_at.clear();
    (void)world.set(link, to);  // nobody raises the port here
    EXPECT_EQ(world.looked_at, (std::set{link.a.node, link.b.node}));
  }
}

TEST(OpenSmActuator, LooksAtMulticastBeforeALinkGoesOff) {
  World world("tree:k=3,n=2");
  const LinkRef link = world.trunk(0);
  const auto write_group = [&](std::uint16_t mask) {
    const NodeIndex node = world.sim.fabric.description().find_node(link.b.node);
    mad::MftBlock block;
    block.masks[5] = mask;
    ASSERT_TRUE(test::set_at(world.sim.fabric, node, mad::SmAttr::MulticastForwardingTable, 3, block,
                             world.sim.ps()));
  };
  write_group(static_cast<std::uint16_t>(1U << link.b.port.raw()));
  const auto failure = world.set(link, LinkTo::Off);
  ASSERT_TRUE(failure);
  EXPECT_EQ(failure->code, ErrorCode::Conflict);
  EXPECT_THAT(failure->message, HasSubstr("copies multicast LID 0xc065"));
  EXPECT_EQ(world.state_of(link.a), PortState::Active);
  write_group(1);
  EXPECT_FALSE(world.set(link, LinkTo::Off));
}

TEST(OpenSmActuator, TurnsALinkOffAndOn) {
  World world("tree:k=3,n=2");
  const LinkRef link = world.trunk(0);
  ASSERT_FALSE(world.set(link, LinkTo::Off));
  EXPECT_EQ(world.state_of(link.a), PortState::Down);
  EXPECT_EQ(world.plans.at(0).off, std::vector{link});
  EXPECT_EQ(read_plan(world.plan_path()).value().off, std::vector{link});
}

TEST(OpenSmActuator, SetsPortsOnlyBetweenSweeps) {
  World world("tree:k=3,n=2");
  const LinkRef link = world.trunk(0);
  world.say(Kind::HeavySweepStart);
  std::optional<std::optional<Error>> answer;
  world.actuator->set_links({{link, link.a, LinkTo::Off, World::full()}}, world.sim.now,
                            [&](const auto& outcomes, Instant) { answer = outcomes.at(0).failure; });
  EXPECT_FALSE(world.run([&] { return answer.has_value(); }, 20s));
  EXPECT_EQ(world.state_of(link.a), PortState::Active);
  PluginEvent failed;
  failed.kind = Kind::SubnetUp;
  failed.errors = true;
  world.say(failed);
  EXPECT_FALSE(world.run([&] { return answer.has_value(); }, 20s));
  world.say(Kind::SubnetUp);
  EXPECT_TRUE(world.run([&] { return answer.has_value(); }));
  EXPECT_FALSE(answer->has_value());
  EXPECT_EQ(world.state_of(link.a), PortState::Down);
}

TEST(OpenSmActuator, RefusesToCutHostsOff) {
  World world("mesh:3,hosts=1");
  const LinkRef link = world.trunk(0);
  const auto failure = world.set(link, LinkTo::Off);
  ASSERT_TRUE(failure);
  EXPECT_EQ(failure->code, ErrorCode::Refused);
  EXPECT_EQ(world.state_of(link.a), PortState::Active);
}

TEST(OpenSmActuator, RefusesReductionWhereOpenSmWouldUndoIt) {
  World world("tree:k=3,n=2");
  const auto failure = world.set(world.trunk(0), LinkTo::Reduced);
  ASSERT_TRUE(failure);
  EXPECT_THAT(failure->message, HasSubstr("force_link_width"));
  EXPECT_TRUE(world.plans.empty());
}

/// An off waits for the window, and the link is needed before it opens. Both ran: the port stayed Disabled.
TEST(OpenSmActuator, AnOnCallsAnOffForTheSameLinkOff) {
  World world("tree:k=3,n=2");
  const LinkRef link = world.trunk(0);
  world.say(Kind::HeavySweepStart);
  std::vector<std::optional<regulate::LinkOutcome>> answers(2);
  world.actuator->set_links({{link, link.a, LinkTo::Off, World::full()}}, world.sim.now,
                            [&](const auto& outcomes, Instant) { answers[0] = outcomes.at(0); });
  EXPECT_FALSE(world.run([&] { return answers[0].has_value(); }, 2s));
  world.actuator->set_links({{link, link.a, LinkTo::On, World::full()}}, world.sim.now,
                            [&](const auto& outcomes, Instant) { answers[1] = outcomes.at(0); });
  world.run([&] { return false; }, 1s);
  world.say(Kind::SubnetUp);
  EXPECT_TRUE(world.run([&] { return answers[0] && answers[1]; }));
  EXPECT_TRUE(answers[0]->failure);
  EXPECT_FALSE(answers[1]->failure) << answers[1]->failure->message;
  EXPECT_EQ(world.state_of(link.a), PortState::Active);
}

/// A link has left all tables and waits for the window; a cable is cut, and OpenSM routes over the link
/// again, lest hosts be cut off. It went off all the same when the window opened (181327 of the random runs
/// of real programs: hosts without a path for 1.3 s).
TEST(OpenSmActuator, WhatOpenSmUsesOnceMoreDoesNotGoOff) {
  World world("tree:k=3,n=2");
  const LinkRef link = world.trunk(0);
  std::optional<regulate::LinkOutcome> answer;
  world.actuator->set_links({{link, link.a, LinkTo::Off, World::full()}}, world.sim.now,
                            [&](const auto& outcomes, Instant) { answer = outcomes.at(0); });
  world.say(Kind::HeavySweepStart);
  EXPECT_FALSE(world.run([&] { return answer.has_value(); }, 2s));
  PluginEvent routed;
  routed.kind = Kind::RoutingDone;
  routed.relaxed = true;
  world.say(routed);
  world.say(Kind::SubnetUp);
  EXPECT_TRUE(world.run([&] { return answer.has_value(); }));
  EXPECT_TRUE(answer->failure);
  EXPECT_EQ(world.state_of(link.a), PortState::Active);
}

/// A SUBNET UP without errors may never come: one node whose Sets fail kept every link off.
TEST(OpenSmActuator, WhatComesBackWaitsAFewSecondsForTheWindow) {
  World world("tree:k=3,n=2");
  const LinkRef link = world.trunk(0);
  ASSERT_FALSE(world.set(link, LinkTo::Off));
  world.say(Kind::HeavySweepStart);
  std::optional<regulate::LinkOutcome> answer;
  world.actuator->set_links({{link, link.a, LinkTo::On, World::full()}}, world.sim.now,
                            [&](const auto& outcomes, Instant) { answer = outcomes.at(0); });
  world.run([&] { return answer.has_value(); }, 10s);
  const auto port = world.sim.fabric.description().find_port(link.a);
  EXPECT_NE(world.sim.fabric.port_info(port).physical, PhysState::Disabled);
}

/// A Set that was late, of whoever.
TEST(OpenSmActuator, WhatComesBackIsOrderedAgainWhereItIsFoundDisabled) {
  World world("tree:k=3,n=2");
  const LinkRef link = world.trunk(0);
  const PortIndex port = world.sim.fabric.description().find_port(link.a);
  ASSERT_FALSE(world.set(link, LinkTo::Off));
  std::optional<regulate::LinkOutcome> answer;
  world.actuator->set_links({{link, link.a, LinkTo::On, World::full()}}, world.sim.now,
                            [&](const auto& outcomes, Instant) { answer = outcomes.at(0); });
  const auto is_disabled = [&] { return world.sim.fabric.port_info(port).physical == PhysState::Disabled; };
  ASSERT_TRUE(world.run([&] { return !is_disabled(); }, 5s));
  mad::PortInfo info = mad::unchanged(world.sim.fabric.port_info(port), 0);
  info.physical = PhysState::Disabled;
  const NodeIndex node = world.sim.fabric.description().find_node(link.a.node);
  ASSERT_TRUE(
      test::set_at(world.sim.fabric, node, mad::SmAttr::PortInfo, link.a.port.raw(), info, world.sim.ps()));
  ASSERT_TRUE(is_disabled());
  EXPECT_TRUE(world.run([&] { return !is_disabled(); }, 5s));
}

}  // namespace
}  // namespace heddle::opensm
