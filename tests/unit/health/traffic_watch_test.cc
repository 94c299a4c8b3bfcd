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

// Four times as busy is borne no more, less is.
TEST(HealthTraffic, AThirdOfTheBusiestIsNotUnbalanced) {
  for (const double least : {20e9, 12e9}) {
    HealthWorld world{ring};
    world.send(0, 2, BitRate{60e9});
    world.send(1, 3, BitRate{least});
    world.pass(25min);
    EXPECT_EQ(world.count(Rule::UnbalancedTrunk), least > 15e9 ? 0U : 1U) << least;
  }
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

}  // namespace
}  // namespace heddle::health
