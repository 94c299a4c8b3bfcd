// A queue that is not empty keeps its link.

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "unit/regulation/governor_world.h"

namespace heddle::regulation {
namespace {

using std::chrono::minutes;
using std::chrono::seconds;
using testing_support::World;

const char* const queue_torus = "torus:3x3,hosts=1,links=4,speed=DDR,ports=24";

class GovernorQueuesTest : public testing::Test {
 protected:
  GovernorQueuesTest() { begin(64); }

  void begin(unsigned looks) {
    GovernorOptions options = World::default_options();
    options.queue_looks = looks;
    world_ = std::make_unique<World>(queue_torus, options);
    world_->start();
    world_->shift_traffic(1, 0.05);
  }
  [[nodiscard]] std::uint32_t trunk_of(const LinkRef& link) const {
    return world_->network->trunk_of(world_->fabric->port(world_->fabric->find_port(link.a)).link);
  }
  [[nodiscard]] std::size_t off_of(std::uint32_t trunk) const {
    std::size_t off = 0;
    for (const LinkRef& link : world_->down_links()) off += trunk_of(link) == trunk ? 1 : 0;
    return off;
  }
  [[nodiscard]] bool reported(ReportKind kind, const std::string& text) const {
    return std::ranges::any_of(world_->reports, [&](const Report& report) {
      return report.kind == kind && report.reason.find(text) != std::string::npos;
    });
  }

  std::unique_ptr<World> world_;
};

TEST_F(GovernorQueuesTest, AllOfItsTrunkIsAskedBeforeALinkLeaves) {
  world_->run(seconds{90});
  ASSERT_GE(world_->looked_at.size(), 2U);
  std::set<std::uint32_t> asked;
  for (const LinkRef& link : world_->looked_at.front()) asked.insert(trunk_of(link));
  EXPECT_EQ(world_->looked_at.front().size(), 4 * asked.size());
  EXPECT_LE(2 * world_->looked_at.front().size(), world_->options.queue_looks);
  for (const LinkRef& link : world_->down_links()) EXPECT_TRUE(asked.contains(trunk_of(link)));
  // And what leaves once more, when no table leads there.
  EXPECT_EQ(world_->looked_at[1].size(), world_->off());
  world_->expect_settled();
}

TEST_F(GovernorQueuesTest, AQueueBesideItKeepsALinkAndNoOther) {
  const LinkRef busy = world_->ref(world_->network->trunks()[0].links.front());
  world_->waits = [&](const LinkRef& link) { return link == busy; };
  world_->run(minutes{30});
  EXPECT_EQ(off_of(0), 0U);
  EXPECT_EQ(world_->off(), 3 * (world_->network->trunks().size() - 1));
  EXPECT_TRUE(reported(ReportKind::CalledOff, "12 credits wait at "));
  EXPECT_TRUE(reported(ReportKind::CalledOff, " for VL 3"));
  world_->waits = [](const LinkRef&) { return false; };
  world_->run(minutes{30});
  EXPECT_EQ(off_of(0), 3U);
  world_->expect_settled();
}

// Tables that do not lead there any more, and packets that wait for it all the same.
TEST_F(GovernorQueuesTest, WhatWaitsBeforeThePortIsClosedKeepsTheLink) {
  std::optional<LinkRef> stays;
  world_->waits = [&](const LinkRef& link) {
    if (world_->looked_at.size() == 2 && !stays) stays = link;
    return stays == link;
  };
  world_->run(seconds{90});
  ASSERT_TRUE(stays);
  for (const LinkRef& link : world_->down_links()) EXPECT_NE(link, *stays);
  EXPECT_GT(world_->off(), 0U);
  world_->expect_settled();
}

TEST_F(GovernorQueuesTest, WhenAllHaveQueuesTheChangeEnds) {
  world_->waits = [&](const LinkRef&) { return world_->looked_at.size() == 2; };
  world_->run(seconds{75});
  world_->expect_settled();
  EXPECT_GE(world_->looked_at.size(), 2U);
  EXPECT_EQ(world_->off(), 0U);
}

TEST_F(GovernorQueuesTest, TheBudgetBoundsWhatLeavesAtATime) {
  begin(8);
  world_->run(minutes{40});
  for (const auto& links : world_->looked_at) EXPECT_LE(2 * links.size(), 8U);
  EXPECT_EQ(world_->off(), 3 * world_->network->trunks().size());
  world_->expect_settled();
}

TEST_F(GovernorQueuesTest, RisingLoadForgetsWhatWasToLeave) {
  world_->run(seconds{50});
  world_->hold = true;
  while (world_->outstanding.empty()) world_->run(seconds{10});
  ASSERT_TRUE(std::holds_alternative<LookAtQueues>(world_->outstanding.front()));
  world_->shift_traffic(1, 0.95);
  world_->tell(LoadsMeasured{world_->sample()});
  world_->hold = false;
  world_->answer_all();
  EXPECT_EQ(world_->governor.stage(), Stage::Idle);
  EXPECT_EQ(world_->off(), 0U);
}

TEST_F(GovernorQueuesTest, NobodyWhoAnswersIsNoReasonToStay) {
  world_->run(seconds{50});
  world_->hold = true;
  while (world_->outstanding.empty()) world_->run(seconds{10});
  const auto* look = std::get_if<LookAtQueues>(&world_->outstanding.front());
  ASSERT_NE(look, nullptr);
  const StepId step = look->step;
  world_->outstanding.clear();
  world_->hold = false;
  world_->tell(StepTimedOut{step});
  world_->run(seconds{10});
  EXPECT_GT(world_->off(), 0U);
  world_->expect_settled();
}

}  // namespace
}  // namespace heddle::regulation
