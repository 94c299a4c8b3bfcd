#include "discovery/sm_watch.h"

#include <gtest/gtest.h>

#include <vector>

#include "support/scripted_transport.h"

namespace heddle::discovery {
namespace {

using namespace std::chrono_literals;
using State = mad::SmInfo::State;

class SmWatchTest : public testing::Test {
 protected:
  template <class Attribute>
  void answer(const Attribute& attribute) {
    mad::Packet packet = transport.answer_to(transport.sent.size() - 1);
    mad::encode(attribute, mad::smp_data(packet.mad));
    engine.on_packet(packet, now);
  }
  void answer_local(Lid master) {
    mad::PortInfo info;
    info.lid = Lid{7};
    info.master_sm_lid = master;
    answer(info);
  }
  void answer_master(std::uint64_t guid, State state = State::Master) {
    mad::SmInfo info;
    info.guid = PortGuid{guid};
    info.priority = 5;
    info.state = state;
    answer(info);
  }
  void stay_silent() {
    while (const auto next = engine.next_deadline()) engine.on_timer(now = *next);
  }
  SmSight look(Lid lid, std::uint64_t guid, State state = State::Master) {
    watch.look(PortNum{1}, now);
    answer_local(lid);
    answer_master(guid, state);
    return sights.back();
  }

  Instant now{};
  test::ScriptedTransport transport;
  transport::TransactionEngine engine{transport, {}};
  std::vector<SmSight> sights;
  SmWatch watch{engine, 0, [this](const SmSight& seen, Instant) { sights.push_back(seen); }};
};

TEST_F(SmWatchTest, TwoMadsTellWhoIsMaster) {
  const SmSight seen = look(Lid{3}, 0x11);
  EXPECT_EQ(transport.sent.size(), 2U);
  EXPECT_EQ(transport.sent[1].address.dlid, Lid{3});
  EXPECT_EQ(seen.lid, Lid{3});
  EXPECT_TRUE(seen.answers);
  ASSERT_TRUE(seen.info);
  EXPECT_EQ(seen.info->guid, PortGuid{0x11});
  EXPECT_EQ(seen.info->priority, 5);
}

TEST_F(SmWatchTest, APortThatNobodyConfiguredHasNone) {
  watch.look(PortNum{1}, now);
  answer_local(no_lid);
  ASSERT_EQ(sights.size(), 1U);
  EXPECT_EQ(sights[0].lid, no_lid);
  EXPECT_EQ(transport.sent.size(), 1U);
}

TEST_F(SmWatchTest, ASilentMasterStaysKnown) {
  const SmSight before = look(Lid{3}, 0x11);
  watch.look(PortNum{1}, now);
  answer_local(Lid{3});
  stay_silent();
  ASSERT_EQ(sights.size(), 2U);
  EXPECT_FALSE(sights[1].answers);
  ASSERT_TRUE(sights[1].info);
  EXPECT_EQ(compare(before, sights[1]), SmEvent::Silent);
  const SmSight after = look(Lid{3}, 0x11);
  EXPECT_EQ(compare(sights[1], after), SmEvent::Back);
}

TEST_F(SmWatchTest, OneThatStandsByIsNotMaster) {
  const SmSight before = look(Lid{3}, 0x11);
  const SmSight seen = look(Lid{3}, 0x11, State::Standby);
  EXPECT_FALSE(seen.answers);
  EXPECT_EQ(compare(before, seen), SmEvent::Silent);
}

TEST_F(SmWatchTest, MastershipMovesWithTheLidOrTheGuid) {
  const SmSight before = look(Lid{3}, 0x11);
  EXPECT_EQ(compare(before, look(Lid{4}, 0x22)), SmEvent::Moved);
  EXPECT_EQ(compare(before, look(Lid{3}, 0x22)), SmEvent::Moved);
  EXPECT_EQ(compare(before, before), SmEvent::Nothing);
  EXPECT_EQ(compare(SmSight{}, before), SmEvent::Appeared);
  EXPECT_EQ(compare(before, SmSight{}), SmEvent::Gone);
  EXPECT_EQ(compare(SmSight{}, SmSight{}), SmEvent::Nothing);
}

TEST_F(SmWatchTest, APortThatDoesNotAnswerSaysNothing) {
  watch.look(PortNum{1}, now);
  stay_silent();
  EXPECT_TRUE(sights.empty());
  look(Lid{3}, 0x11);  // and the next look is made
  EXPECT_EQ(sights.size(), 1U);
}

TEST_F(SmWatchTest, StopAtEveryStepEndsTheLook) {
  for (const bool local_answered : {false, true}) {
    test::ScriptedTransport scripted;
    transport::TransactionEngine own{scripted, {}};
    int ended = 0;
    SmWatch stopped{own, 0, [&](const SmSight&, Instant) { ++ended; }};
    stopped.look(PortNum{1}, now);
    if (local_answered) {
      mad::Packet packet = scripted.answer_to(0);
      mad::PortInfo info;
      info.master_sm_lid = Lid{3};
      mad::encode(info, mad::smp_data(packet.mad));
      own.on_packet(packet, now);
    }
    own.stop(now);
    EXPECT_EQ(ended, 0);
  }
}

}  // namespace
}  // namespace heddle::discovery
