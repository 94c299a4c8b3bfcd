// What passes, or should: counters that never move, and trunks of which one link has all the traffic.
#include "health/traffic_watch.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "unit/health/health_world.h"

namespace heddle::health {
namespace {

using testing::HasSubstr;

TEST(HealthTraffic, OneLinkOfATrunkCarriesAll) {
  HealthWorld world{ring};
  const auto flow = world.send(0, 2, BitRate{60e9});
  world.pass(25min);
  const auto found = world.findings(Rule::UnbalancedTrunk);
  ASSERT_GE(found.size(), 1U);
  EXPECT_EQ(found[0].sureness, Sureness::Likely);
  EXPECT_THAT(found[0].what, HasSubstr("was 30 % busy, and another of the 2 links"));
  static_cast<void>(flow);
}

TEST(HealthTraffic, WhereLittlePassesNothingIsUnbalanced) {
  HealthWorld world{ring};
  world.send(0, 2, BitRate{10e9});
  world.pass(25min);
  EXPECT_EQ(world.count(), 0U);
}

TEST(HealthTraffic, CountersThatNeverMove) {
  HealthWorld world{ring};
  const Link& link = world.truth().link(world.host_link());
  const bool a_is_switch = world.truth().node(link.a.node).type == NodeType::Switch;
  const LinkEnd host = a_is_switch ? link.b : link.a;
  world.fabric().set_agent_faults(host.node, {.stuck_counters = true});
  for (std::size_t other = 1; other < 8; ++other) {
    world.send(0, other, BitRate{1e9});
    world.send(other, 0, BitRate{1e9});
  }
  world.pass(26min);
  auto found = world.findings(Rule::SilentCounters);
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].at, world.truth().ref(host));
  EXPECT_EQ(found[0].blame, world.truth().ref(host));
  world.pass(12min);
  found = world.findings(Rule::SilentCounters);
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].sureness, Sureness::Sure);
  world.fabric().set_agent_faults(host.node, {});
  world.pass(26min);
  EXPECT_EQ(world.count(Rule::SilentCounters), 0U);
}

TEST(HealthTraffic, CountersThatHaveNothingToCount) {
  HealthWorld world{ring};
  const Link& link = world.truth().link(world.host_link());
  world.fabric().set_agent_faults(link.a.node, {.stuck_counters = true});
  world.pass(26min);
  EXPECT_EQ(world.count(), 0U);
}

/// The end of the last host's link that is the host's.
LinkEnd host_end(const HealthWorld& world) {
  const Link& link = world.truth().link(world.host_link());
  return world.truth().node(link.a.node).type == NodeType::Switch ? link.b : link.a;
}

TEST(HealthTraffic, AHostThatTakesLessThanItsLinkBrings) {
  HealthWorld world{ring};
  const LinkEnd host = host_end(world);
  world.take_in(host, Ratio{0.2});
  world.send(0, 7, BitRate{100e9});
  world.pass(26min);
  auto found = world.findings(Rule::SlowReceiver);
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].blame, world.truth().ref(host));
  EXPECT_EQ(found[0].at, world.truth().ref(*world.truth().peer(host)));
  EXPECT_THAT(found[0].what, HasSubstr("of the time for want of credits, and was 20 % busy"));
  world.pass(12min);
  found = world.findings(Rule::SlowReceiver);
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].sureness, Sureness::Sure);
  world.take_in(host, Ratio{1});
  world.pass(26min);
  EXPECT_EQ(world.count(Rule::SlowReceiver), 0U);
}

// Its link is full: that is as much as it can be.
TEST(HealthTraffic, ManyThatSendToOneHostDoNotMakeItSlow) {
  HealthWorld world{ring};
  for (std::size_t from = 0; from < 3; ++from) world.send(from, 7, BitRate{150e9});
  world.pass(26min);
  EXPECT_EQ(world.count(Rule::SlowReceiver), 0U);
}

TEST(HealthTraffic, AHostThatTakesAllThatComesIsNotSlow) {
  HealthWorld world{ring};
  world.take_in(host_end(world), Ratio{0.5});
  world.send(0, 7, BitRate{90e9});
  world.pass(26min);
  EXPECT_EQ(world.count(Rule::SlowReceiver), 0U);
}

/// Two windows in which every port listed had data and no credits for half of the time.
std::vector<Finding> while_they_wait(const std::shared_ptr<const Fabric>& fabric,
                                     const std::vector<LinkEnd>& waiting) {
  TrafficWatch watch{Options{}};
  load::Sample sample;
  sample.fabric = fabric;
  sample.ports.resize(fabric->ports().size());
  for (int minute = 0; minute <= 26; ++minute) {
    sample.ended = Instant{std::chrono::minutes{minute}};
    for (load::PortSample& port : sample.ports) {
      port.status = load::PortStatus::Fresh;
      port.known = load::all_counters;
    }
    for (const LinkEnd& end : waiting) {
      // 4 ns a tick
      sample.ports[fabric->port_index(end).raw()].totals[load::at(load::Counter::XmitWait)] =
          static_cast<std::uint64_t>(minute) * 60 * 125'000'000;
    }
    watch.on_sample(sample);
  }
  return watch.findings();
}

TEST(HealthTraffic, WhatWaitsBehindASlowReceiverIsCounted) {
  const HealthWorld world{"xgft:2;2,3;1,2"};
  const std::shared_ptr<const Fabric> fabric{std::shared_ptr<void>{}, &world.seen()};
  std::vector<LinkEnd> to_first;  // the leaf's port to its first host, and all that leads to that leaf
  const Link* first = nullptr;
  for (const Link& link : fabric->links()) {
    const auto is_switch = [&](LinkEnd end) { return fabric->node(end.node).type == NodeType::Switch; };
    if (first == nullptr && is_switch(link.a) != is_switch(link.b)) first = &link;
  }
  ASSERT_NE(first, nullptr);
  const bool a_is_switch = fabric->node(first->a.node).type == NodeType::Switch;
  const LinkEnd leaf_port = a_is_switch ? first->a : first->b;
  to_first.push_back(leaf_port);
  for (const Link& link : fabric->links()) {
    for (const auto& [from, to] : {std::pair{link.a, link.b}, std::pair{link.b, link.a}}) {
      if (to.node == leaf_port.node && fabric->node(from.node).type == NodeType::Switch)
        to_first.push_back(from);
    }
  }
  ASSERT_EQ(to_first.size(), 3U);
  const auto found = while_they_wait(fabric, to_first);
  ASSERT_EQ(found.size(), 1U) << "the spines' ports wait because of that host";
  EXPECT_THAT(found[0].what, HasSubstr("50 % of the time for want of credits"));
  EXPECT_THAT(found[0].what, HasSubstr("; 2 ports that lead to it wait, too"));
}

}  // namespace
}  // namespace heddle::health
