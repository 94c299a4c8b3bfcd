#include <gtest/gtest.h>

#include <cmath>

#include "fabric/links.h"
#include "regulation/governor.h"
#include "unit/regulation/governor_world.h"

namespace heddle::regulation {
namespace {

using std::chrono::minutes;
using std::chrono::seconds;
using testing_support::World;

const char* const tree = "xgft:2;8,8;1,8";

GovernorOptions for_any() {
  GovernorOptions options = World::default_options();
  options.select.policy = SelectPolicy::General;
  options.chosen_for = ChosenFor::Any;
  return options;
}

// Nothing is estimated, so that nothing has to prove right first.
TEST(GovernorForAny, AllThatCanBeSparedLeavesAtOnce) {
  World world{tree, for_any()};
  world.start();
  world.shift_traffic(1, 0.05);
  world.run(seconds{55});
  EXPECT_EQ(world.off(), 0U);
  world.run(seconds{40});
  EXPECT_GT(world.off(), 2 * world.options.first_closing);
  world.expect_settled();
}

TEST(GovernorForAny, OtherPatternsAtTheSameRatesBringNothingBack) {
  World world{tree, for_any()};
  world.start();
  world.shift_traffic(1, 0.05);
  world.run(minutes{5});
  const std::size_t before = world.off();
  ASSERT_GT(before, 32U);
  for (const std::uint32_t shift : {8U, 31U, 17U, 40U}) {
    world.shift_traffic(shift, 0.05);
    world.run(minutes{3});
    EXPECT_EQ(world.off(), before) << shift;
  }
  world.expect_settled();
}

// By what hosts send: no link needs to be too full for that.
TEST(GovernorForAny, LinksComeBackWhenHostsSendMore) {
  World world{tree, for_any()};
  world.start();
  world.shift_traffic(1, 0.05);  // seven of eight stay within their switch
  world.run(minutes{5});
  const std::size_t before = world.off();
  ASSERT_GT(before, 32U);
  world.shift_traffic(1, 0.4);
  world.run(seconds{30});
  EXPECT_LT(world.off(), before / 2);
  // And leave again when they send less, after a quiet time.
  world.shift_traffic(1, 0.05);
  world.run(seconds{40});
  EXPECT_LT(world.off(), before / 2);
  world.run(minutes{15});
  EXPECT_EQ(world.off(), before);
  world.expect_settled();
}

TEST(GovernorForAny, NeverMoreAtATimeThanIsConfigured) {
  GovernorOptions options = for_any();
  options.most_closing = 5;
  World world{tree, options};
  world.start();
  world.shift_traffic(1, 0.05);
  world.run(seconds{95});
  EXPECT_EQ(world.off(), options.most_closing);
  world.expect_settled();
}

// What is lost is made up for by others.
TEST(GovernorForAny, AnotherSetIsChosenWhenALinkBreaks) {
  World world{tree, for_any()};
  world.start();
  world.shift_traffic(8, 0.05);
  world.run(minutes{5});
  ASSERT_GT(world.off(), 32U);
  const routing::LinkSet before = world.up;
  for (std::uint32_t i = 0; i < world.fabric->links().size(); ++i) {
    const LinkIndex link{i};
    routing::LinkSet rest = routing::LinkSet::all(*world.fabric);
    rest.erase(link);
    const bool may_break = world.network->trunk_of(link) != Network::no_trunk && world.up.contains(link) &&
                           !broken_rule(*world.network, rest);
    rest = world.up;
    rest.erase(link);
    if (!may_break || !broken_rule(*world.network, rest)) continue;
    world.break_link(link);
    break;
  }
  ASSERT_NE(world.up, before);
  world.run(minutes{5});
  world.expect_settled();
  EXPECT_EQ(broken_rule(*world.network, world.up).value_or(""), "");
}

/// Every `every`th of those that are off is ordered on and released at once: it has to stay on for
/// `least_on`.
std::vector<LinkRef> bring_back(World& world, std::size_t every) {
  std::vector<LinkRef> links;
  const std::vector<LinkRef> off = world.down_links();
  for (std::size_t i = 0; i < off.size(); i += every) links.push_back(off[i]);
  for (const LinkRef& link : links) world.tell(SetOverride{link, {Wish::On, "a look", "ada", std::nullopt}});
  for (const LinkRef& link : links) world.tell(SetOverride{link, {Wish::Auto, "", "ada", std::nullopt}});
  return links;
}

// As one that took minutes to come back: the set that there is does with it, and no other one is searched
// for.
TEST(GovernorForAny, ALinkThatHasToStayJoinsTheSet) {
  World world{tree, for_any()};
  world.start();
  world.shift_traffic(1, 0.05);
  world.run(minutes{5});
  ASSERT_GT(world.off(), 32U);
  routing::LinkSet expected = world.up;
  std::uint32_t i = 0;
  while (world.up.contains(LinkIndex{i})) ++i;
  expected.insert(LinkIndex{i});
  const LinkRef ref = world.ref(LinkIndex{i});
  world.tell(SetOverride{ref, {Wish::On, "needed", "ada", std::nullopt}});
  unsigned steps = 0;
  for (unsigned sample = 0; sample < 12; ++sample) {
    world.now += seconds{10};
    world.tell(LoadsMeasured{world.sample()});
    for (world.tell(Tick{}); world.governor.next_deadline() == world.now; world.tell(Tick{})) ++steps;
  }
  EXPECT_LE(steps, 2U);
  EXPECT_EQ(world.up, expected);
  // And leaves when it may.
  const std::size_t off = world.off();
  world.tell(SetOverride{ref, {Wish::Auto, "", "ada", std::nullopt}});
  world.run(minutes{15});
  EXPECT_GT(world.off(), off);
  world.expect_settled();
}

// Part of a set may crowd others where all of it does not: what has to stay a while is part of the set.
TEST(GovernorForAny, LinksThatMayNotLeaveYetHoldNoOthersUp) {
  GovernorOptions options = for_any();
  options.least_on = minutes{30};
  World world{"xgft:3;4,4,4;1,4,4", options};
  world.start();
  world.shift_traffic(1, 0.15);
  world.run(minutes{40});
  const std::size_t before = world.off();
  ASSERT_GT(before, 32U);
  const std::vector<LinkRef> back = bring_back(world, 1);
  world.run(seconds{10});
  ASSERT_EQ(world.off(), 0U);
  world.shift_traffic(1, 0.05);
  world.run(minutes{3});
  const std::size_t without_these = world.off();
  EXPECT_GT(without_these, before);
  for (const LinkRef& link : back) EXPECT_TRUE(world.up.contains(find_link(*world.fabric, link)));
  // They leave when they have been on for long enough.
  world.run(minutes{80});
  EXPECT_GT(world.off(), without_these);
  world.expect_settled();
}

// Hosts have sent less for all of a quiet time: whatever else has come back meanwhile.
TEST(GovernorForAny, ALinkThatComesBackHoldsUpNobody) {
  World world{tree, for_any()};
  world.start();
  world.shift_traffic(1, 0.3);
  world.run(minutes{10});
  const std::size_t before = world.off();
  ASSERT_GT(before, 8U);
  world.shift_traffic(1, 0.05);
  world.run(seconds{50});
  (void)bring_back(world, before);
  ASSERT_EQ(world.off(), before - 1);
  world.run(seconds{50});
  EXPECT_GT(world.off(), 2 * before);
  world.expect_settled();
}

// The search goes on with each Tick, and whatever comes between is answered.
TEST(GovernorForAny, OtherEventsAreAnsweredWhileItSearches) {
  World world{tree, for_any()};
  world.start();
  world.shift_traffic(1, 0.05);
  const auto measure = [&] {
    world.now += seconds{10};
    world.tell(LoadsMeasured{world.sample()});
  };
  measure();
  ASSERT_EQ(world.governor.next_deadline(), world.now);
  EXPECT_FALSE(world.governor.plan());
  world.tell(Tick{});
  ASSERT_EQ(world.governor.next_deadline(), world.now) << "it ended with one step: nothing is tested";
  const LinkIndex flaps = world.network->trunks().front().links.front();
  const LinkRef ref = link_ref(*world.fabric, world.fabric->link(flaps));
  world.tell(LinkTroubled{ref, {Trouble::Flapping, "3 times in 10 minutes"}});
  unsigned ticks = 0;
  while (world.governor.next_deadline() == world.now && ++ticks < 100) world.tell(Tick{});
  EXPECT_LT(ticks, 100U);
  // What has come up meanwhile is looked at: the link that flaps stays on.
  ASSERT_TRUE(world.governor.plan());
  EXPECT_FALSE(world.governor.plan()->off.empty());
  for (const LinkRef& off : world.governor.plan()->off) EXPECT_NE(off, ref);
}

/// Until the next Tick would take it a step further.
void begin_search(World& world) {
  world.start();
  world.shift_traffic(1, 0.05);
  world.now += seconds{10};
  world.tell(LoadsMeasured{world.sample()});
  ASSERT_EQ(world.governor.next_deadline(), world.now);
}

TEST(GovernorForAny, AnotherFabricEndsTheSearch) {
  World world{tree, for_any()};
  ASSERT_NO_FATAL_FAILURE(begin_search(world));
  world.start();
  EXPECT_NE(world.governor.next_deadline(), world.now);
  world.tell(Tick{});
  EXPECT_FALSE(world.governor.plan());
  world.run(minutes{5});
  EXPECT_GT(world.off(), 32U);
  world.expect_settled();
}

TEST(GovernorForAny, ASearchEndsWhenRegulationIsTurnedOff) {
  World world{tree, for_any()};
  ASSERT_NO_FATAL_FAILURE(begin_search(world));
  world.tell(SetMode{Mode::Off, "test"});
  world.tell(Tick{});
  EXPECT_NE(world.governor.next_deadline(), world.now);
}

// Part of what was chosen crowds others: the budget for queues says how many are asked at a time, and not how
// many leave.
TEST(GovernorForAny, AllLeaveAtOnceHoweverManyQueuesAreAskedAtATime) {
  GovernorOptions options = for_any();
  options.queue_looks = 16;
  World world{tree, options};
  world.start();
  world.shift_traffic(1, 0.05);
  world.run(seconds{95});
  EXPECT_GT(world.off(), 32U);
  ASSERT_GT(world.looked_at.size(), 4U);
  for (const auto& links : world.looked_at) EXPECT_LE(2 * links.size(), options.queue_looks);
  world.expect_settled();
}

// It is on until tables without it are written, and counts on nobody meanwhile.
TEST(GovernorForAny, WhatAnOperatorHasOrderedOffIsInNoSet) {
  GovernorOptions options = for_any();
  options.drain = seconds{30};
  World world{tree, options};
  world.start();
  world.shift_traffic(1, 0.15);
  world.run(minutes{10});
  ASSERT_GT(world.off(), 8U);
  unsigned tried = 0;
  for (std::uint32_t i = 0; i < world.fabric->links().size(); ++i) {
    const LinkIndex link{i};
    routing::LinkSet rest = world.up;
    rest.erase(link);
    if (world.network->trunk_of(link) == Network::no_trunk || !world.up.contains(link) ||
        broken_rule(*world.network, rest))
      continue;
    const LinkRef ref = link_ref(*world.fabric, world.fabric->link(link));
    world.tell(SetOverride{ref, {Wish::Off, "replace it", "ada", std::nullopt}});
    world.shift_traffic(1, 0.15 * std::pow(1.15, ++tried));  // more, while it drains
    world.run(minutes{5});
    ASSERT_TRUE(world.governor.plan());
    for (const LinkDecision& decision : world.governor.plan()->decisions)
      EXPECT_NE(decision.link, link) << decision.reason;
    if (tried == 3) break;
  }
  EXPECT_EQ(tried, 3U);
}

TEST(GovernorForAny, ThePlanSaysWhatHoldsLinksOn) {
  World world{tree, for_any()};
  world.start();
  world.shift_traffic(1, 0.3);
  world.run(minutes{5});
  ASSERT_TRUE(world.governor.plan());
  const Plan& plan = *world.governor.plan();
  ASSERT_FALSE(plan.held.empty());
  EXPECT_NE(plan.note.find(plan.held.front().rule), std::string::npos) << plan.note;
  std::size_t links = 0;
  for (const Holding& each : plan.held) links += each.links;
  EXPECT_EQ(links + world.off(), world.network->trunks().size());  // of one link each
}

TEST(GovernorForAny, TheTrunkRuleDoesNotAsk) {
  GovernorOptions options = for_any();
  options.select.policy = SelectPolicy::Trunk;
  World world{"torus:3x3,hosts=1,links=4,speed=DDR,ports=24", options};
  world.start();
  world.shift_traffic(1, 0.05);
  world.run(seconds{95});
  EXPECT_EQ(world.off(), world.options.first_closing);
}

}  // namespace
}  // namespace heddle::regulation
