// Light sweeps beside another subnet manager, at a pace.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <set>
#include <utility>

#include "gentle_sweep.h"
#include "transport/requests.h"

namespace heddle::discovery {
namespace {

TEST_F(GentleSweepTest, EachPortIsAskedOnceByLidAndNoHost) {
  const Instant begun = world.sim.now;
  world.discovery.light(world.sim.now);
  const SweepReport* report = until_report(100s);
  ASSERT_NE(report, nullptr);
  EXPECT_EQ(report->survey, report->before) << "nothing has changed";
  EXPECT_EQ(by_lid, ports_of_switches());
  EXPECT_EQ(by_route, 1U) << "the own port";
  EXPECT_EQ(hosts_asked, 0U);
  const double took = seconds(world.sim.now - begun);
  EXPECT_GE(took, static_cast<double>(ports_of_switches() - 16) / pace);
  EXPECT_LE(took, static_cast<double>(ports_of_switches() + 100) / pace);
  ASSERT_TRUE(world.discovery.light_round());
  EXPECT_NEAR(seconds(*world.discovery.light_round()), seconds(world.sim.now - begun), 1e-6);
}

TEST_F(GentleSweepTest, WhatIsFoundIsSaidAtOnceAndTheRoundGoesOn) {
  // The last link: of the switches that are asked last.
  const LinkIndex cut{static_cast<std::uint32_t>(world.truth().links().size() - 1)};
  world.sim.fabric.cut(cut, world.ps());
  const Instant begun = world.sim.now;
  world.discovery.light(world.sim.now);
  const SweepReport* report = until_report(100s);
  ASSERT_NE(report, nullptr);
  EXPECT_EQ(report->survey->fabric->links().size(), world.truth().links().size() - 1);
  EXPECT_EQ(world.discovery.light_round(), std::nullopt) << "the round has not ended";
  ASSERT_NE(until_report(100s), nullptr) << "the rest of it";
  ASSERT_TRUE(world.discovery.light_round());
  EXPECT_NEAR(seconds(*world.discovery.light_round()), seconds(world.sim.now - begun), 1e-6);
  world.sim.fabric.mend(cut, world.ps());
  world.discovery.light(world.sim.now);
  expect_same_graph(*until_report(100s)->survey->fabric, world.truth());
}

TEST_F(GentleSweepTest, WhatSomebodyAsksForDoesNotWaitForTheRound) {
  const NodeGuid node = world.truth().node(world.switch_at(3)).guid;
  world.discovery.light(world.sim.now);
  EXPECT_EQ(until_report(50ms), nullptr);
  world.discovery.rediscover({&node, 1}, world.sim.now);
  const SweepReport* report = until_report(50ms);
  ASSERT_NE(report, nullptr);
  EXPECT_EQ(report->kind, SweepKind::Partial);
  const std::size_t before = by_lid;
  ASSERT_NE(until_report(100s), nullptr) << "the round goes on";
  EXPECT_LT(by_lid, ports_of_switches() + 16);
  EXPECT_GT(by_lid, before);
}

TEST_F(GentleSweepTest, WhoHadNotAnsweredWhenARoundWasInterruptedIsAskedWhenItGoesOn) {
  using PortByLid = std::pair<Lid, std::uint32_t>;
  std::optional<PortByLid> silent;
  std::set<PortByLid> others;
  std::size_t questions = 0;
  world.sim.on_send = [&](const mad::Packet& packet) {
    const auto header = mad::read_header(packet.mad);
    if (header.mgmt_class != mad::MgmtClass::SubnLid) return;
    const PortByLid port{packet.address.dlid, header.modifier};
    if (!silent) silent = port;
    silent == port ? void(++questions) : void(others.insert(port));
  };
  world.sim.receive_with([&](const mad::Packet& packet, Instant at) {
    const auto header = mad::read_header(packet.mad);
    const bool by_lid = header.mgmt_class == mad::MgmtClass::SubnLid;
    if (by_lid && silent == PortByLid{packet.address.slid, header.modifier}) return;
    world.sim.engine.on_packet(packet, at);
  });
  world.discovery.light(world.sim.now);
  while (others.size() < 5) ASSERT_EQ(until_report(100us), nullptr);
  const unsigned attempts = transport::EngineOptions{}.attempts;
  ASSERT_LT(questions, attempts);
  const NodeGuid node = world.truth().node(world.switch_at(3)).guid;
  world.discovery.rediscover({&node, 1}, world.sim.now);
  ASSERT_NE(until_report(50ms), nullptr);
  ASSERT_NE(until_report(100s), nullptr) << "the round goes on";
  EXPECT_EQ(questions, 2 * attempts);
}

TEST_F(GentleSweepTest, ASwitchThatDoesNotAnswerByLidIsAskedByRoute) {
  // Its LID leads nowhere: no way back from there, but it is there.
  world.sim.receive_with([this](const mad::Packet& packet, Instant at) {
    if (mad::read_header(packet.mad).mgmt_class == mad::MgmtClass::SubnLid) return;
    ++by_route;
    world.sim.engine.on_packet(packet, at);
  });
  world.discovery.light(world.sim.now);
  const SweepReport* report = until_report(1000s);
  ASSERT_NE(report, nullptr);
  EXPECT_EQ(report->kind, SweepKind::Light);
  EXPECT_EQ(report->survey, report->before);
  EXPECT_EQ(by_route, ports_of_switches() + 1);
}

// Random run 270353 of the real programs: a switch without a way to the manager's LID counted as silent, and
// the Sets that were to turn its links on were not sent for seven seconds.
TEST_F(GentleSweepTest, ASwitchThatDoesNotAnswerByLidIsNotSilent) {
  struct Client : transport::TransactionClient {
    void on_completion(const transport::Completion& completion) override {
      if (completion.outcome == transport::Outcome::AgentSilent) ++refused;
    }
    std::size_t refused = 0;
  } client;
  world.sim.receive_with([&](const mad::Packet& packet, Instant at) {
    if (mad::read_header(packet.mad).mgmt_class == mad::MgmtClass::SubnLid) return;
    world.sim.engine.on_packet(packet, at);
  });
  const auto ask_all = [&] {
    for (const SurveyNode& node : world.discovery.survey()->nodes) {
      if (!node.is_switch()) continue;
      const auto question = transport::directed_smp({.attribute = mad::SmAttr::NodeInfo}, node.path);
      ASSERT_TRUE(world.sim.engine.submit({.packet = question, .agent = transport::agent_of(node.guid())},
                                          client, 0, world.sim.now));
    }
  };
  world.discovery.light(world.sim.now);
  for (int step = 0; step < 200; ++step) {
    EXPECT_EQ(until_report(5ms), nullptr);
    ask_all();
  }
  EXPECT_GT(world.sim.engine.statistics().failed, 0U) << "by LID";
  EXPECT_EQ(client.refused, 0U);
  world.sim.engine.stop(world.sim.now);
}

}  // namespace
}  // namespace heddle::discovery
