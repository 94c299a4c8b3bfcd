// The closed loop with agents of hosts that are spoken to by MADs, as they ought to be and as they ought not:
// no packet is lost, and a change that cannot be made goes back.

#include "story.h"

namespace heddle::test {
namespace {

using regulation::Movement;
using regulation::Stage;
using sim::AgentConduct;

class SpeakingHosts : public Story {
 protected:
  RegulatedWorld& begin_speaking() {
    WorldOptions options = usual();
    options.agents = HostAgents::Speak;
    RegulatedWorld& world = begin(ring, options);
    world.judge_writes();
    EXPECT_TRUE(world.run([&] { return movement() == Movement::Planes; }, 1min)) << events();
    return world;
  }
  [[nodiscard]] Movement movement() const { return governor().movement(); }
  [[nodiscard]] const regulation::Governor& governor() const {
    return world_->daemon->regulator().governor();
  }
  [[nodiscard]] regulate::HostAgents::Figures agents() const {
    return world_->daemon->core().host_agents()->figures();
  }
  /// Light load, until a change has come to the hosts.
  bool reach_migration() {
    traffic(0.05);
    return world_->run([&] { return governor().stage() == Stage::Migrating && governor().plane() == 0; },
                       1min);
  }
  [[nodiscard]] std::size_t flows_in(unsigned plane) const {
    return static_cast<std::size_t>(std::ranges::count_if(
        flows_, [&](sim::TrafficId flow) { return world_->plane.path(flow) == plane; }));
  }
};

TEST_F(SpeakingHosts, MoveAllConnectionsBetweenPlanesAndLinksGo) {
  RegulatedWorld& world = begin_speaking();
  traffic(0.05);
  ASSERT_TRUE(comes_to(4)) << events();
  expect_well();
  const unsigned plane = governor().plane();
  EXPECT_EQ(flows_in(plane), flows_.size());
  EXPECT_GE(agents().moves, 2U) << "to where it is, and to the other one";
  EXPECT_EQ(agents().failed_moves, 0U);
  world.run_for(1min);
  EXPECT_EQ(agents().armed, agents().connections);
  traffic(0.9);
  ASSERT_TRUE(comes_to(0)) << events();
  expect_well();
}

TEST_F(SpeakingHosts, OneThatDiesInTheMiddleSendsTheChangeBack) {
  RegulatedWorld& world = begin_speaking();
  traffic(0.05);
  ASSERT_TRUE(world.run([&] { return governor().stage() == Stage::Writing; }, 1min)) << events();
  world.agents->set_conduct(hosts_[1], AgentConduct::Dead);
  ASSERT_TRUE(world.run([&] { return agents().failed_moves > 0; }, 2min)) << events();
  EXPECT_THAT(world.links_off(), ::testing::IsEmpty());
  ASSERT_TRUE(comes_to(4)) << "in stages, because one host cannot move\n" << events();
  EXPECT_EQ(movement(), Movement::Staged);
  expect_well();
  world.agents->set_conduct(hosts_[1], AgentConduct::Honest);
  EXPECT_TRUE(world.run([&] { return movement() == Movement::Planes; }, 10min)) << events();
  world.run_for(1min);
  EXPECT_EQ(flows_in(governor().plane()), flows_.size());
  expect_well();
}

TEST_F(SpeakingHosts, OneThatMovesHalfSendsTheChangeBack) {
  RegulatedWorld& world = begin_speaking();
  world.agents->set_conduct(hosts_[2], AgentConduct::Half);
  ASSERT_TRUE(reach_migration()) << events();
  ASSERT_TRUE(world.run([&] { return agents().failed_moves > 0; }, 2min)) << events();
  EXPECT_THAT(agents().trouble, ::testing::HasSubstr("a queue pair cannot migrate"));
  EXPECT_THAT(world.links_off(), ::testing::IsEmpty());
  ASSERT_TRUE(comes_to(4)) << events();
  EXPECT_EQ(movement(), Movement::Staged);
  expect_well();
}

TEST_F(SpeakingHosts, OneThatBoastsIsNotBelieved) {
  RegulatedWorld& world = begin_speaking();
  world.agents->set_conduct(hosts_[2], AgentConduct::Boasts);
  ASSERT_TRUE(reach_migration()) << events();
  ASSERT_TRUE(world.run([&] { return agents().failed_moves > 0; }, 2min)) << events();
  ASSERT_TRUE(comes_to(4)) << events();
  expect_well();
}

// Nobody can know. Its packets go by tables that nobody should use while they are written.
TEST_F(SpeakingHosts, OneThatLiesWellHurtsNobodyElse) {
  RegulatedWorld& world = begin_speaking();
  world.agents->set_conduct(hosts_[2], AgentConduct::Lies);
  traffic(0.05);
  ASSERT_TRUE(comes_to(4)) << events();
  EXPECT_EQ(agents().failed_moves, 0U);
  EXPECT_EQ(figures().into_off_link, 0U);
  EXPECT_EQ(figures().unroutable, 0U);
}

TEST_F(SpeakingHosts, OneThatAnswersLateIsWaitedForOrSentBack) {
  RegulatedWorld& world = begin_speaking();
  world.agents->set_conduct(hosts_[0], AgentConduct::Late);
  traffic(0.05);
  ASSERT_TRUE(comes_to(4)) << events();
  expect_well();
}

TEST_F(SpeakingHosts, OneThatTakesSecondsIsWaitedFor) {
  RegulatedWorld& world = begin_speaking();
  world.agents->set_conduct(hosts_[3], AgentConduct::Slow);
  traffic(0.05);
  ASSERT_TRUE(comes_to(4)) << events();
  EXPECT_EQ(agents().failed_moves, 0U);
  EXPECT_EQ(flows_in(governor().plane()), flows_.size());
  expect_well();
}

TEST_F(SpeakingHosts, OneThatBeginsAnewIsToldWhereConnectionsBelong) {
  RegulatedWorld& world = begin_speaking();
  traffic(0.05);
  ASSERT_TRUE(comes_to(4)) << events();
  world.agents->restart(hosts_[1]);
  const unsigned plane = governor().plane();
  world.plane.set_path(flows_[1], static_cast<std::uint8_t>(1 - plane), world.ps());
  world.run_for(2min);
  EXPECT_EQ(flows_in(plane), flows_.size());
  expect_well();
}

TEST_F(SpeakingHosts, TrafficThatChoosesItsLidsKeepsTablesInStages) {
  RegulatedWorld& world = begin_speaking();
  ASSERT_TRUE(world.plane.add({.from = hosts_[0], .to = hosts_[1], .demand = BitRate{1e9}, .path_offset = 1},
                              world.ps()));
  traffic(0.05);
  EXPECT_TRUE(world.run([&] { return movement() == Movement::Staged; }, 1min)) << events();
  ASSERT_TRUE(comes_to(4)) << events();
  const auto share =
      world.daemon->core().host_agents()->immovable_share(*world.daemon->core().sampler().latest());
  ASSERT_TRUE(share);
  EXPECT_GT(share->value(), 0.2);
  EXPECT_LT(share->value(), 0.9);
  expect_well();
}

TEST_F(SpeakingHosts, OneThatDiesAtAnyTimeLosesNothing) {
  for (const FabricClock::duration at : {0s, 3s, 6s, 7s, 9s, 12s}) {
    RegulatedWorld& world = begin_speaking();
    traffic(0.05);
    world.run_for(at);
    world.agents->set_conduct(hosts_[3], AgentConduct::Dead);
    ASSERT_TRUE(comes_to(4)) << events();
    expect_well();
    traffic(0.9);
    ASSERT_TRUE(comes_to(0)) << events();
    expect_well();
  }
}

}  // namespace
}  // namespace heddle::test
