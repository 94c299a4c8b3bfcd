// Hosts that can all move between planes from some moment on, or no more: planes are relied on only after all
// traffic was moved to one of them.
#include <gtest/gtest.h>

#include <algorithm>

#include "unit/regulation/governor_world.h"

namespace heddle::regulation {
namespace {

using std::chrono::minutes;
using testing_support::Answering;
using testing_support::Effect;
using testing_support::World;

const char* const small_torus = "torus:3x3,hosts=1,links=2";

GovernorOptions staged() {
  GovernorOptions options = World::default_options();
  options.movement = Movement::Staged;
  return options;
}

/// Light traffic until links have gone.
void let_links_go(World& world) {
  world.shift_traffic(1, 0.05);
  world.run(minutes{3});
  EXPECT_GT(world.transitions, 0U);
}

TEST(GovernorMovement, TrafficIsMovedToOnePlaneBeforePlanesAreReliedOn) {
  World world{small_torus, staged()};
  world.start();
  world.hold = true;
  world.tell(MovementChanged{Movement::Planes});
  EXPECT_EQ(world.governor.movement(), Movement::Planes);
  ASSERT_EQ(world.outstanding.size(), 1U);
  const auto* migrate = std::get_if<Migrate>(&world.outstanding.front());
  ASSERT_NE(migrate, nullptr);
  EXPECT_EQ(migrate->plane, world.governor.plane());
  EXPECT_EQ(world.governor.stage(), Stage::Migrating);
  world.hold = false;
  world.answer_all();
  EXPECT_EQ(world.governor.stage(), Stage::Idle);
  let_links_go(world);
  world.expect_settled();
}

TEST(GovernorMovement, WhereThatFailsChangesGoOnInStages) {
  World world{small_torus, staged()};
  world.start();
  world.fate = [](std::size_t) { return std::pair{Answering::Failed, Effect::None}; };
  world.tell(MovementChanged{Movement::Planes});
  EXPECT_EQ(world.governor.stage(), Stage::Idle);
  world.fate = nullptr;
  let_links_go(world);
  world.expect_settled();
}

TEST(GovernorMovement, ItIsNotTakenInTheMiddleOfAChange) {
  World world{small_torus};
  world.start();
  world.shift_traffic(1, 0.05);
  world.hold = true;
  world.run(minutes{2});
  ASSERT_NE(world.governor.stage(), Stage::Idle);
  world.tell(MovementChanged{Movement::Staged});
  EXPECT_EQ(world.governor.movement(), Movement::Planes);
  world.hold = false;
  world.answer_all();
  world.run(minutes{2});
  world.tell(MovementChanged{Movement::Staged});
  EXPECT_EQ(world.governor.movement(), Movement::Staged);
  world.shift_traffic(4, 0.9);
  world.run(minutes{1});
  world.expect_settled();
}

TEST(GovernorMovement, WithOnePlaneNobodyMoves) {
  GovernorOptions options = staged();
  options.planes = 1;
  Governor governor{options};
  EXPECT_TRUE(governor.on({Instant{}, MovementChanged{Movement::Planes}}).empty());
  EXPECT_EQ(governor.movement(), Movement::Staged);
}

}  // namespace
}  // namespace heddle::regulation
