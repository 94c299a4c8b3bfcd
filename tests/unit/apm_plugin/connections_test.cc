// What the library does with a program's queue pairs, on a stand-in for verbs of which each call can fail.

#include "connections.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "stand_in.h"

namespace heddle::apm {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

const PortName port{"mlx5_0", 1};

class ConnectionsTest : public ::testing::Test {
 protected:
  /// As programs do it: INIT, RTR, RTS.
  test::StandIn::Pair& connect(std::uint16_t dlid = 0x20, std::uint8_t source_bits = 0,
                               ibv_qp_type type = IBV_QPT_RC) {
    auto& pair = verbs_.make(type);
    step(pair, test::attributes(IBV_QPS_INIT, 1), IBV_QP_STATE | IBV_QP_PORT | IBV_QP_PKEY_INDEX);
    ibv_qp_attr ready{};
    ready.qp_state = IBV_QPS_RTR;
    ready.ah_attr.dlid = dlid;
    ready.ah_attr.src_path_bits = source_bits;
    ready.ah_attr.port_num = 1;
    pair.now.ah_attr = ready.ah_attr;
    step(pair, ready, IBV_QP_STATE | IBV_QP_AV);
    pair.now.path_mig_state = IBV_MIG_MIGRATED;
    step(pair, test::attributes(IBV_QPS_RTS, 0, 14), IBV_QP_STATE | IBV_QP_TIMEOUT);
    return pair;
  }
  void step(test::StandIn::Pair& pair, ibv_qp_attr attributes, int mask) {
    pair.now.qp_state = attributes.qp_state;
    connections_.on_modified(&pair.qp, attributes, mask);
  }
  bool work() { return connections_.work(now_); }
  /// As the library's thread does it. True: some are waited for.
  bool work_for_a_while() {
    const auto end = now_ + 4 * Connections::moment;
    while (work()) {
      if (now_ >= end) return true;
      now_ += 20ms;
    }
    return false;
  }
  void hear(test::StandIn::Pair& pair, ibv_event_type what) {
    ibv_async_event event{};
    event.event_type = what;
    event.element.qp = &pair.qp;
    connections_.on_event(event);
  }
  void migrate_by_itself(test::StandIn::Pair& pair) {
    pair.now.ah_attr = pair.now.alt_ah_attr;
    pair.now.path_mig_state = IBV_MIG_MIGRATED;
    hear(pair, IBV_EVENT_PATH_MIG);
  }
  void move(unsigned plane) { connections_.move(port, plane, ++order_, now_); }
  [[nodiscard]] local::Report report() const { return connections_.report(port); }
  [[nodiscard]] std::string trouble() const {
    const auto own = report();
    return {own.trouble, strnlen(own.trouble, sizeof own.trouble)};
  }

  test::StandIn verbs_;
  std::vector<std::string> log_;
  Connections connections_{verbs_.verbs, [this](const std::string& line) { log_.push_back(line); }};
  Connections::Clock::time_point now_ = Connections::Clock::now();
  std::uint64_t order_ = 0;
};

TEST_F(ConnectionsTest, ArmsWhatIsReadyToSend) {
  auto& pair = connect();
  EXPECT_FALSE(work_for_a_while());
  EXPECT_EQ(pair.now.alt_ah_attr.dlid, 0x21);
  EXPECT_EQ(pair.now.alt_ah_attr.src_path_bits, 1);
  EXPECT_EQ(pair.now.ah_attr.dlid, 0x20) << "and moves nothing";
  EXPECT_EQ(report().connections, 1U);
  EXPECT_EQ(report().armed, 1U);
  EXPECT_THAT(report().in_plane, ElementsAre(1, 0));
  EXPECT_THAT(log_, IsEmpty());
  work_for_a_while();
  EXPECT_EQ(verbs_.loads, 1) << "once";
}

TEST_F(ConnectionsTest, MovesToAPlaneAndArmsTheWayBackAThousandTimes) {
  auto& pair = connect();
  for (unsigned i = 1; i <= 1000; ++i) {
    move(i % 2);
    EXPECT_EQ(report().moving, 1U);
    EXPECT_FALSE(work_for_a_while());
    ASSERT_EQ(pair.now.ah_attr.dlid, 0x20 + i % 2);
    ASSERT_EQ(pair.now.path_mig_state, IBV_MIG_ARMED);
    ASSERT_EQ(report().order, i);
    ASSERT_EQ(report().moving, 0U);
  }
  EXPECT_EQ(verbs_.migrations, 1000);
}

// A packet that says so goes out only while it is not armed again.
TEST_F(ConnectionsTest, TheOtherEndHasTimeToLearnThatThisOneHasMoved) {
  auto& pair = connect();
  work_for_a_while();
  now_ += Connections::moment;
  move(1);
  EXPECT_TRUE(work());
  EXPECT_EQ(pair.now.ah_attr.dlid, 0x21);
  EXPECT_EQ(pair.now.path_mig_state, IBV_MIG_MIGRATED);
  EXPECT_EQ(report().moving, 0U) << "it is there";
  now_ += Connections::moment - 1ms;
  EXPECT_TRUE(work());
  EXPECT_EQ(verbs_.loads, 1);
  now_ += 1ms;
  EXPECT_FALSE(work());
  EXPECT_EQ(pair.now.path_mig_state, IBV_MIG_ARMED);
}

TEST_F(ConnectionsTest, AndToBeArmedBeforeThisOneMoves) {
  auto& pair = connect();
  pair.peer_is_silent = true;
  work();
  now_ += 10 * Connections::moment;
  pair.now.path_mig_state = IBV_MIG_ARMED;
  move(1);
  EXPECT_TRUE(work());
  EXPECT_EQ(pair.now.ah_attr.dlid, 0x20);
  now_ += Connections::moment;
  work();
  EXPECT_EQ(pair.now.ah_attr.dlid, 0x21);
}

TEST_F(ConnectionsTest, WhatOpensLaterIsMovedToo) {
  connect();
  move(1);
  work_for_a_while();
  auto& later = connect(0x30);
  work_for_a_while();
  EXPECT_EQ(later.now.ah_attr.dlid, 0x31);
  EXPECT_THAT(report().in_plane, ElementsAre(0, 2));
}

TEST_F(ConnectionsTest, DirectionsInDifferentPlanesComeTogether) {
  auto& pair = connect(0x21, 0);
  work_for_a_while();
  EXPECT_EQ(plane_of({pair.now.ah_attr.dlid, pair.now.ah_attr.src_path_bits}), std::optional{1U});
  move(0);
  work_for_a_while();
  EXPECT_EQ(pair.now.ah_attr.dlid, 0x20);
}

TEST_F(ConnectionsTest, WhoseOtherEndDoesNotAnswerIsWaitedForAndThenHasFailed) {
  auto& pair = connect();
  pair.peer_is_silent = true;
  EXPECT_FALSE(work_for_a_while()) << "nothing is wanted of it";
  move(1);
  EXPECT_TRUE(work_for_a_while());
  EXPECT_EQ(report().moving, 1U);
  now_ += Connections::patience;
  EXPECT_FALSE(work_for_a_while());
  EXPECT_EQ(report().failed, 1U);
  EXPECT_EQ(report().moving, 0U);
  EXPECT_THAT(trouble(), HasSubstr("qp 0x000101: its other end has not answered"));
  pair.now.path_mig_state = IBV_MIG_ARMED;
  move(1);
  work_for_a_while();
  EXPECT_THAT(report().in_plane, ElementsAre(0, 1));
  EXPECT_EQ(report().failed, 0U);
}

TEST_F(ConnectionsTest, EachCallThatFailsIsTold) {
  auto& pair = connect();
  verbs_.error_of_query = EIO;
  work_for_a_while();
  EXPECT_THAT(trouble(), HasSubstr("query"));
  EXPECT_EQ(report().failed, 1U);
  verbs_.error_of_query = 0;
  verbs_.error_of_load = EINVAL;
  connections_.arm(port, now_);
  work_for_a_while();
  EXPECT_THAT(trouble(), HasSubstr("load the alternate path"));
  verbs_.error_of_load = 0;
  verbs_.error_of_migrate = ENOMEM;
  move(1);
  work_for_a_while();
  EXPECT_THAT(trouble(), HasSubstr("migrate"));
  EXPECT_EQ(pair.now.ah_attr.dlid, 0x20);
  verbs_.error_of_migrate = 0;
  move(1);
  work_for_a_while();
  EXPECT_THAT(trouble(), IsEmpty());
  EXPECT_EQ(pair.now.ah_attr.dlid, 0x21);
}

TEST_F(ConnectionsTest, OneThatFailsKeepsNoOtherFromMoving) {
  auto& stuck = connect(0x20);
  auto& other = connect(0x30);
  stuck.peer_is_silent = true;
  move(1);
  work_for_a_while();
  EXPECT_EQ(other.now.ah_attr.dlid, 0x31);
  EXPECT_THAT(report().in_plane, ElementsAre(1, 1));
}

TEST_F(ConnectionsTest, AnOtherEndThatWasFasterIsNoError) {
  auto& pair = connect();
  work_for_a_while();
  // It has moved, and this adapter has followed: the event is on its way.
  pair.now.ah_attr = pair.now.alt_ah_attr;
  pair.now.path_mig_state = IBV_MIG_MIGRATED;
  move(1);
  work_for_a_while();
  EXPECT_EQ(report().failed, 0U);
  EXPECT_EQ(pair.now.ah_attr.dlid, 0x21);
  EXPECT_EQ(pair.now.path_mig_state, IBV_MIG_ARMED);
}

TEST_F(ConnectionsTest, EventsAreCountedAndHaveItArmedAgain) {
  auto& pair = connect();
  work_for_a_while();
  migrate_by_itself(pair);
  work_for_a_while();
  EXPECT_EQ(pair.now.path_mig_state, IBV_MIG_ARMED);
  EXPECT_EQ(report().migrated, 1U);
  hear(pair, IBV_EVENT_PATH_MIG_ERR);
  hear(pair, IBV_EVENT_COMM_EST);
  EXPECT_EQ(report().migrated, 1U);
  EXPECT_EQ(report().failed_to_migrate, 1U);
}

// Its plane has no way: sent back by an order of long ago, it waited there, unarmed, for answers that could
// not come.
TEST_F(ConnectionsTest, OneThatHasLeftItsPlaneByItselfStaysUntilItIsToldToMove) {
  auto& pair = connect();
  move(1);
  ASSERT_FALSE(work_for_a_while());
  ASSERT_EQ(pair.now.ah_attr.dlid, 0x21);
  migrate_by_itself(pair);
  hear(pair, IBV_EVENT_PATH_MIG_ERR);
  EXPECT_FALSE(work_for_a_while());
  EXPECT_EQ(pair.now.ah_attr.dlid, 0x20);
  EXPECT_EQ(pair.now.alt_ah_attr.dlid, 0x21);
  EXPECT_EQ(pair.now.path_mig_state, IBV_MIG_ARMED) << "it can leave again";
  EXPECT_THAT(report().in_plane, ElementsAre(1, 0)) << "and says where it is";
  connections_.arm(port, now_);
  EXPECT_FALSE(work_for_a_while());
  EXPECT_EQ(pair.now.ah_attr.dlid, 0x20) << "to be armed is not to move";
  move(1);
  EXPECT_FALSE(work_for_a_while());
  EXPECT_EQ(pair.now.ah_attr.dlid, 0x21);
  EXPECT_EQ(pair.now.path_mig_state, IBV_MIG_ARMED);
}

TEST_F(ConnectionsTest, AnEventThatIsHeardLateKeepsNoneFromMoving) {
  auto& pair = connect();
  move(1);
  ASSERT_FALSE(work_for_a_while());
  move(0);
  hear(pair, IBV_EVENT_PATH_MIG);
  EXPECT_FALSE(work_for_a_while());
  EXPECT_EQ(pair.now.ah_attr.dlid, 0x20) << "the event was of the move before";
}

TEST_F(ConnectionsTest, AnAdapterThatCannotMigrateIsLeftAloneWithOneLine) {
  verbs_.device_attributes.device_cap_flags = 0;
  connect();
  connect();
  move(1);
  work_for_a_while();
  EXPECT_EQ(verbs_.loads, 0);
  EXPECT_EQ(report().unable, 2U);
  EXPECT_EQ(report().connections, 0U);
  EXPECT_THAT(log_, ElementsAre(HasSubstr("the adapter has no automatic path migration")));
}

TEST_F(ConnectionsTest, SoIsAPortWithOneLidOrOfEthernetOrThatCannotBeAsked) {
  verbs_.port_attributes.lmc = 0;
  connect();
  EXPECT_THAT(log_, ElementsAre(HasSubstr("LMC 0")));
  verbs_.port_attributes.lmc = 1;
  verbs_.port_attributes.link_layer = IBV_LINK_LAYER_ETHERNET;
  connect();
  verbs_.error_of_query_port = EIO;
  connect();
  EXPECT_EQ(report().unable, 3U);
  EXPECT_EQ(log_.size(), 1U);
}

TEST_F(ConnectionsTest, DatagramsAndProgramsWithPathsOfTheirOwnCannotMove) {
  connect(0x20, 0, IBV_QPT_UD);
  auto& own = verbs_.make();
  step(own, test::attributes(IBV_QPS_INIT, 1), IBV_QP_STATE | IBV_QP_PORT);
  step(own, test::attributes(IBV_QPS_RTR), IBV_QP_STATE | IBV_QP_AV | IBV_QP_ALT_PATH);
  step(own, test::attributes(IBV_QPS_RTS), IBV_QP_STATE);
  work_for_a_while();
  EXPECT_EQ(report().others, 1U);
  EXPECT_EQ(report().unable, 1U);
  EXPECT_EQ(verbs_.loads, 0);
}

TEST_F(ConnectionsTest, WhatIsGoneIsNotTouched) {
  auto& destroyed = connect();
  auto& reset = connect();
  auto& broken = connect();
  connections_.on_destroy(&destroyed.qp);
  step(reset, test::attributes(IBV_QPS_RESET), IBV_QP_STATE);
  step(broken, test::attributes(IBV_QPS_ERR), IBV_QP_STATE);
  move(1);
  work_for_a_while();
  EXPECT_EQ(report().connections, 0U);
  EXPECT_EQ(verbs_.loads, 0);
}

TEST_F(ConnectionsTest, OneThatBrokeByItselfHasFailed) {
  auto& pair = connect();
  pair.now.qp_state = IBV_QPS_ERR;
  move(1);
  work_for_a_while();
  EXPECT_EQ(report().failed, 1U);
}

TEST_F(ConnectionsTest, AForkedChildKnowsNothing) {
  connect();
  connections_.lock();
  connections_.forget();
  connections_.unlock();
  EXPECT_THAT(connections_.ports(), IsEmpty());
  EXPECT_EQ(report().connections, 0U);
}

TEST_F(ConnectionsTest, OrdersForAnotherPortMoveNothingHere) {
  auto& pair = connect();
  connections_.move({"mlx5_1", 1}, 1, 1, now_);
  work_for_a_while();
  EXPECT_EQ(pair.now.ah_attr.dlid, 0x20);
}

}  // namespace
}  // namespace heddle::apm
