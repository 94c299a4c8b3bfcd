#include "sim/flow/path_migration.h"

#include <gtest/gtest.h>

#include "flow_fixture.h"

namespace heddle::sim {
namespace {

class PathMigrationTest : public ::testing::Test {
 protected:
  PathMigrationTest() {
    bench.fabric.set_change_listener(&bench.plane);
    bring_up(bench.fabric, {.lmc = 1});
    flow = bench.add(0, 3, BitRate{gbit});
  }

  FlowBench bench{one_switch};
  PathMigration hosts{bench.plane};
  TrafficId flow;
};

TEST_F(PathMigrationTest, FollowsTheStatesOfTheSpecification) {
  EXPECT_EQ(hosts.paths(flow), (ConnectionPaths{0, std::nullopt, MigrationState::Migrated}));
  EXPECT_FALSE(hosts.rearm(flow));  // nothing is loaded
  ASSERT_TRUE(hosts.load_alternate(flow, 1));
  EXPECT_FALSE(hosts.arm(flow));
  EXPECT_FALSE(hosts.migrate(flow, 1_s));
  ASSERT_TRUE(hosts.rearm(flow));
  EXPECT_FALSE(hosts.migrate(flow, 1_s));
  ASSERT_TRUE(hosts.arm(flow));
  EXPECT_FALSE(hosts.load_alternate(flow, 0));
  EXPECT_EQ(hosts.paths(flow), (ConnectionPaths{0, 1, MigrationState::Armed}));
  ASSERT_TRUE(hosts.migrate(flow, 1_s));
  EXPECT_EQ(hosts.paths(flow), (ConnectionPaths{1, std::nullopt, MigrationState::Migrated}));
  EXPECT_EQ(bench.plane.path(flow), 1);
  EXPECT_EQ(bench.plane.rate(flow, 2_s), BitRate{gbit});
}

TEST_F(PathMigrationTest, AgentsMoveAllThatCanMoveAndArmTheWayBack) {
  const TrafficId fixed =
      *bench.plane.add({.from = bench.hosts[1], .to = bench.hosts[2], .path_offset = 0}, 0_s);
  ASSERT_TRUE(hosts.move_all(1, 1_s));
  EXPECT_EQ(hosts.paths(flow), (ConnectionPaths{1, 0, MigrationState::Armed}));
  EXPECT_EQ(bench.plane.path(fixed), 0);
  const TrafficId later = bench.add(2, 1, BitRate{gbit}, 2_s);
  EXPECT_EQ(bench.plane.path(later), 1);
  ASSERT_TRUE(hosts.move_all(0, 3_s));
  EXPECT_EQ(hosts.paths(flow), (ConnectionPaths{0, 1, MigrationState::Armed}));
  EXPECT_EQ(bench.plane.path(later), 0);
  EXPECT_EQ(bench.plane.figures(4_s).unroutable, 0U);
}

TEST_F(PathMigrationTest, ASilentAgentKeepsItsConnectionsAndIsNamed) {
  const TrafficId other = bench.add(1, 2, BitRate{gbit});
  hosts.set_agent(bench.hosts[0], PathMigration::Agent::Silent);
  const auto moved = hosts.move_all(1, 1_s);
  ASSERT_FALSE(moved);
  EXPECT_EQ(moved.error().code, ErrorCode::Unreachable);
  EXPECT_EQ(bench.plane.path(flow), 0);
  EXPECT_EQ(bench.plane.path(other), 1);
  hosts.set_agent(bench.hosts[0], PathMigration::Agent::Answers);
  EXPECT_TRUE(hosts.move_all(1, 2_s));
  EXPECT_EQ(bench.plane.path(flow), 1);
}

}  // namespace
}  // namespace heddle::sim
