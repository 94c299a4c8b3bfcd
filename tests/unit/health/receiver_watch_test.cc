// Hosts that take less than comes, and what waits behind them.
#include "health/receiver_watch.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "unit/health/health_world.h"

namespace heddle::health {
namespace {

using testing::HasSubstr;

TEST(HealthReceivers, AHostThatTakesLessThanItsLinkBrings) {
  HealthWorld world{ring};
  const LinkEnd host = world.host_end(7);
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
TEST(HealthReceivers, ManyThatSendToOneHostDoNotMakeItSlow) {
  HealthWorld world{ring};
  for (std::size_t from = 0; from < 3; ++from) world.send(from, 7, BitRate{150e9});
  world.pass(26min);
  EXPECT_EQ(world.count(Rule::SlowReceiver), 0U);
}

TEST(HealthReceivers, AHostThatTakesAllThatComesIsNotSlow) {
  HealthWorld world{ring};
  world.take_in(world.host_end(7), Ratio{0.5});
  world.send(0, 7, BitRate{90e9});
  world.pass(26min);
  EXPECT_EQ(world.count(Rule::SlowReceiver), 0U);
}

/// A burst is not a slow host: its link is full as long as anything waits.
TEST(HealthReceivers, ABurstIsOver) {
  HealthWorld world{ring};
  for (int burst = 0; burst < 4; ++burst) {
    std::vector<sim::TrafficId> flows;
    for (std::size_t from = 0; from < 3; ++from) flows.push_back(world.send(from, 7, BitRate{150e9}));
    world.pass(5min);
    for (const sim::TrafficId flow : flows) world.stop(flow);
    world.pass(5min);
  }
  EXPECT_EQ(world.count(Rule::SlowReceiver), 0U);
}

/// Two windows in which every port listed had data and no credits for half of the time.
std::vector<Finding> while_they_wait(const std::shared_ptr<const Fabric>& fabric,
                                     const std::vector<LinkEnd>& waiting) {
  ReceiverWatch watch{Options{}};
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
      load::PortSample& port = sample.ports[fabric->port_index(end).raw()];
      port.congestion = 0.5F;
      port.utilization = 0.2F;
    }
    watch.on_sample(sample);
  }
  return watch.findings();
}

TEST(HealthReceivers, WhatWaitsBehindASlowReceiverIsCounted) {
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
