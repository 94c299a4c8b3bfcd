// Tables by a plan that OpenSM routes by, stage by stage.

#include "authority/opensm/opensm_actuator.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "unit/opensm/actuator_world.h"

namespace heddle::opensm {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;
using Kind = PluginEvent::Kind;

TEST(OpenSmActuator, WritesAPlanAndWaitsForItsTables) {
  World world("tree:k=3,n=2", 2);
  world.actuator->use_ranks({{NodeGuid{7}, 3}});
  world.actuator->ask_for_drained([] { return std::vector{NodeGuid{8}}; });
  const LinkRef link = world.trunk(0);
  const auto written = world.write(1, {link});
  ASSERT_TRUE(written) << written.error().message;
  ASSERT_FALSE(world.plans.empty());
  EXPECT_EQ(world.plans[0].planes[1].avoid, std::vector{link});
  EXPECT_TRUE(world.plans[0].planes[0].avoid.empty());
  EXPECT_TRUE(world.plans[0].planes[1].staged);
  EXPECT_EQ(world.plans[0].ranks.size(), 1U);
  EXPECT_EQ(world.plans[0].drained, std::vector{NodeGuid{8}});
  // What stays on disk has no way there left.
  EXPECT_FALSE(read_plan(world.plan_path()).value().planes[1].staged);
}

TEST(OpenSmActuator, LeavesThePartsOfOthersInThePlan) {
  World world("tree:k=3,n=2");
  plan::Qos qos;
  qos.groups.push_back({{{NodeGuid{1}, PortNum{1}}}, {{{{Vl{0}, 4}}, {}, qos::HighLimit{0}}, {}}});
  world.store->saw(40);
  world.store->update(
      PlanStore::Part::Qos, [&](plan::Plan& plan) { plan.qos = qos; },
      [](const auto& epoch, Instant) { ASSERT_TRUE(epoch); });
  ASSERT_TRUE(world.write(std::nullopt, {world.trunk(0)}));
  EXPECT_EQ(world.plans.at(0).qos, qos);
  EXPECT_GT(world.plans.at(0).epoch, 40U);
}

/// The plugin could be told of a plan that a crash of the host would take back, or the daemon waited for the
/// disk.
TEST(OpenSmActuator, TellsThePluginWhenTheDiskHasThePlanAndDoesNotWaitForThat) {
  World world("tree:k=3,n=2");
  world.slow = true;
  std::optional<Result<void>> answer;
  world.actuator->write_tables(std::nullopt, {world.trunk(0)}, world.sim.now,
                               [&](const Result<void>& result, Instant) { answer = result; });
  EXPECT_FALSE(world.run([&] { return answer.has_value(); }, 100s)) << "longer than a step may take";
  EXPECT_TRUE(world.plans.empty());
  // The plugin has found it by itself; that counts when the daemon knows that it stays.
  PluginEvent early;
  early.kind = Kind::RoutingDone;
  early.reroute = true;
  early.epoch = world.store->plan().epoch;
  world.say(early);
  EXPECT_FALSE(world.run([&] { return answer.has_value(); }, 1s));
  // One stage after the other, and in the end the plan without stages, of which nobody is told.
  std::size_t written = 0;
  for (; world.disk.waiting() > 0; ++written) {
    EXPECT_FALSE(answer);
    EXPECT_EQ(world.plans.size(), written);
    world.disk.work();
    world.run([&] { return answer.has_value(); }, 1s);
  }
  EXPECT_EQ(world.plans.size() + 1, written);
  ASSERT_TRUE(answer);
  ASSERT_TRUE(*answer) << answer->error().message;
  EXPECT_FALSE(read_plan(world.plan_path()).value().planes[0].staged);
}

TEST(OpenSmActuator, WhatTheDiskHasTooLateIsNotCarriedOut) {
  World world("tree:k=3,n=2");
  world.slow = true;
  std::optional<Result<void>> answer;
  world.actuator->write_tables(std::nullopt, {world.trunk(0)}, world.sim.now,
                               [&](const Result<void>& result, Instant) { answer = result; });
  world.run([&] { return world.disk.waiting() > 0; }, 1s);
  world.is_connected = false;
  world.actuator->on_plugin_gone(world.sim.now);
  EXPECT_TRUE(world.run([&] { return answer.has_value(); }, 1s));
  world.disk.work();
  EXPECT_TRUE(world.plans.empty());
  EXPECT_FALSE(answer.value());
}

/// The regulation wrote its own epoch over that of a push, and a late report could confirm the wrong stage.
TEST(OpenSmActuator, APushDuringAStageDoesNotSetTheEpochBack) {
  World world("torus:5x5,hosts=1");
  std::uint64_t last = 0;
  for (std::size_t i = 0; i < 20; i += 3) {
    std::optional<Result<void>> answer;
    world.actuator->write_tables(0, {world.trunk(i)}, world.sim.now,
                                 [&](const Result<void>& result, Instant) { answer = result; });
    const auto plans = world.plans.size();
    world.run([&] { return world.plans.size() > plans; });
    world.store->update(
        PlanStore::Part::Qos, [](plan::Plan& plan) { plan.qos.reset(); },
        [](const auto& epoch, Instant) { ASSERT_TRUE(epoch); });
    ASSERT_TRUE(world.run([&] { return answer.has_value(); }));
    ASSERT_TRUE(*answer) << answer->error().message;
    for (std::size_t p = plans; p < world.plans.size(); ++p) {
      EXPECT_GT(world.plans[p].epoch, last);
      last = world.plans[p].epoch;
    }
    EXPECT_GT(read_plan(world.plan_path()).value().epoch, last);
  }
}

TEST(OpenSmActuator, GoesThroughTheStagesOneByOne) {
  World world("torus:5x5,hosts=1");
  std::size_t most = 0;
  for (std::size_t i = 0; i < 20; ++i) {
    world.plans.clear();
    // Some links nobody can do without: then they go on being used, and that is no failure.
    const auto written = world.write(0, {world.trunk(i)});
    ASSERT_TRUE(written) << written.error().message;
    for (std::size_t stage = 0; stage < world.plans.size(); ++stage) {
      EXPECT_EQ(world.plans[stage].planes[0].staged.value().stage, stage);
    }
    most = std::max(most, world.plans.size());
  }
  EXPECT_GT(most, 1U);
}

TEST(OpenSmActuator, WaitsForSwitchesThatAreBehindAndForMulticast) {
  World world("tree:k=3,n=2");
  world.behind = 2;
  world.groups = 5;
  std::optional<Result<void>> answer;
  world.actuator->write_tables({}, {world.trunk(0)}, world.sim.now,
                               [&](const Result<void>& result, Instant) { answer = result; });
  world.run([&] { return world.routings == 2; });
  EXPECT_FALSE(world.run([&] { return answer.has_value(); }, 5s));
  world.behind = 0;
  world.route();
  EXPECT_FALSE(world.run([&] { return answer.has_value(); }, 5s));
  world.groups = 0;  // of the stages that follow
  world.say(Kind::MulticastDone);
  EXPECT_TRUE(world.run([&] { return answer.has_value(); }, 5s));
  EXPECT_TRUE(answer->has_value());
}

TEST(OpenSmActuator, GivesUpWithWhatIsMissing) {
  World world("tree:k=3,n=2");
  world.behind = 2;
  const auto written = world.write({}, {world.trunk(0)});
  ASSERT_FALSE(written);
  EXPECT_EQ(written.error().code, ErrorCode::Unreachable);
  EXPECT_THAT(written.error().message, HasSubstr("2 switches have not confirmed"));
}

TEST(OpenSmActuator, DoesNotTakeThePluginsWordAlone) {
  World world("tree:k=3,n=2");
  world.lies = true;
  const auto written = world.write({}, {world.trunk(0)});
  ASSERT_FALSE(written);
  EXPECT_EQ(written.error().code, ErrorCode::Conflict);
  EXPECT_THAT(written.error().message, HasSubstr("over a link that is to be unused"));
}

TEST(OpenSmActuator, DoesNothingWithoutAPluginOrAMaster) {
  World world("tree:k=3,n=2");
  const LinkRef link = world.trunk(0);
  PluginEvent standby;
  standby.kind = Kind::SmState;
  standby.state = "standby";
  world.say(standby);
  EXPECT_FALSE(world.actuator->ready());
  EXPECT_FALSE(world.write({}, {link}));
  EXPECT_TRUE(world.set(link, regulate::LinkTo::Off));
  world.is_connected = false;
  world.actuator->on_plugin_gone(world.sim.now);
  const auto written = world.write({}, {link});
  ASSERT_FALSE(written);
  EXPECT_EQ(written.error().code, ErrorCode::Unreachable);
  EXPECT_TRUE(world.plans.empty());
  EXPECT_EQ(world.state_of(link.a), PortState::Active);
}

TEST(OpenSmActuator, FailsWhatIsUnderWayWhenThePluginIsLost) {
  World world("tree:k=3,n=2");
  world.answers = false;
  std::optional<Result<void>> answer;
  world.actuator->write_tables({}, {world.trunk(0)}, world.sim.now,
                               [&](const Result<void>& result, Instant) { answer = result; });
  world.run([&] { return !world.plans.empty(); });
  world.is_connected = false;
  world.actuator->on_plugin_gone(world.sim.now);
  EXPECT_FALSE(answer) << "answered from within the call";
  EXPECT_TRUE(world.run([&] { return answer.has_value(); }, 1s));
  EXPECT_FALSE(answer->has_value());
}

}  // namespace
}  // namespace heddle::opensm
