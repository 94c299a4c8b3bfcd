#include "simserve/pending_requests.h"

#include <arpa/inet.h>
#include <gtest/gtest.h>

#include "mad/header.h"

namespace heddle::simserve {
namespace {

using namespace std::chrono_literals;

class PendingRequestsTest : public testing::Test {
 protected:
  static PacketMessage message(mad::Method method, std::uint64_t tid,
                               mad::MgmtClass mgmt_class = mad::MgmtClass::SubnLid) {
    mad::Packet packet;
    mad::Header header;
    header.mgmt_class = mgmt_class;
    header.method = method;
    header.tid = tid;
    mad::write_header(header, packet.mad);
    return to_wire(packet);
  }

  PendingRequests pending;
  PendingRequests::TimePoint now{};
};

TEST_F(PendingRequestsTest, AnAnswerEndsIt) {
  pending.sent(message(mad::Method::Get, 7), now);
  // The fabric puts a number of its own into the upper 16 bits.
  pending.answered(message(mad::Method::GetResp, 0x0003000000000007), now);
  EXPECT_TRUE(pending.empty());
}

TEST_F(PendingRequestsTest, AskedAgainThreeTimesAndThenGivenBack) {
  pending.sent(message(mad::Method::Get, 7), now);
  EXPECT_TRUE(pending.due(now + 199ms).again.empty());
  for (int i = 0; i < 3; ++i) {
    now += 200ms;
    const auto due = pending.due(now);
    EXPECT_EQ(due.again.size(), 1U);
    EXPECT_TRUE(due.lost.empty());
  }
  now += 200ms;
  const auto due = pending.due(now);
  EXPECT_TRUE(due.again.empty());
  ASSERT_EQ(due.lost.size(), 1U);
  EXPECT_EQ(ntohl(due.lost[0].status), timed_out);
  EXPECT_EQ(due.lost[0].mad, message(mad::Method::Get, 7).mad);
  EXPECT_TRUE(pending.empty());
}

TEST_F(PendingRequestsTest, WhatTheClientRepeatsCountsFromThen) {
  pending.sent(message(mad::Method::Get, 7), now);
  now += 150ms;
  pending.sent(message(mad::Method::Get, 7), now);
  EXPECT_TRUE(pending.due(now + 199ms).again.empty());
  EXPECT_EQ(pending.due(now + 200ms).again.size(), 1U);
}

// A copy that the server made would come after what the client has written since.
TEST_F(PendingRequestsTest, AProgramThatRepeatsByItselfIsLeftToIt) {
  pending.sent(message(mad::Method::Set, 7), now);
  now += 90ms;
  pending.sent(message(mad::Method::Set, 9), now);
  EXPECT_TRUE(pending.due(now + 199ms).again.empty());
  const auto due = pending.due(now + 200ms);
  EXPECT_TRUE(due.again.empty());
  ASSERT_EQ(due.lost.size(), 1U);
  EXPECT_TRUE(pending.empty());
  // What it asks later is another matter.
  pending.sent(message(mad::Method::Set, 10), now);
  EXPECT_EQ(pending.due(now + 200ms).again.size(), 1U);
}

// A repetition that comes long after an answer which its program has not read yet looks like a request of its
// own (a random run of the real programs, seed 1600145): by then it is known that the program repeats.
TEST_F(PendingRequestsTest, WhoRepeatsInTheNextTransactionRepeatsAll) {
  pending.sent(message(mad::Method::Get, 3), now);
  pending.sent(message(mad::Method::Get, 4), now);
  EXPECT_EQ(pending.due(now + 200ms).again.size(), 0U);
  pending.sent(message(mad::Method::Set, 6), now);
  EXPECT_EQ(pending.due(now + 200ms).again.size(), 1U);
  pending.sent(message(mad::Method::Set, 7), now);
  pending.sent(message(mad::Method::Set, 20), now + 300ms);
  EXPECT_TRUE(pending.due(now + 600ms).again.empty());
  EXPECT_TRUE(pending.empty());
}

TEST_F(PendingRequestsTest, AskingTheSameAfterTheAnswerIsNoRepetition) {
  pending.sent(message(mad::Method::Get, 7), now);
  pending.answered(message(mad::Method::GetResp, 7), now);
  pending.sent(message(mad::Method::Get, 8), now);
  EXPECT_EQ(pending.due(now + 200ms).again.size(), 1U);
}

// Sent before the answer had come: lost, and asked again by the server, it undid 220 ms later what the
// program had written since (a random run of the real programs, seed 210211).
TEST_F(PendingRequestsTest, ARepetitionThatCrossesTheAnswerIsOne) {
  pending.sent(message(mad::Method::Set, 7), now);
  pending.answered(message(mad::Method::GetResp, 7), now);
  now += 1ms;
  pending.sent(message(mad::Method::Set, 8), now);
  EXPECT_TRUE(pending.due(now + 200ms).again.empty());
  now += 300ms;
  pending.sent(message(mad::Method::Set, 9), now);
  EXPECT_EQ(pending.due(now + 200ms).again.size(), 1U);
}

TEST_F(PendingRequestsTest, NothingIsAwaitedOfWhatIsNoRequest) {
  for (const auto method :
       {mad::Method::Send, mad::Method::TrapRepress, mad::Method::GetResp, mad::Method::ReportResp}) {
    pending.sent(message(method, 7), now);
  }
  EXPECT_TRUE(pending.empty());
}

// OpenSM standing by tells the master of itself with each look, and stops for good after four traps that it
// never gets back.
TEST_F(PendingRequestsTest, ATrapIsGivenBackUnlessItIsRepressed) {
  pending.sent(message(mad::Method::Trap, 7), now);
  pending.sent(message(mad::Method::Trap, 8), now);
  pending.answered(message(mad::Method::TrapRepress, 7), now);
  std::size_t lost = 0;
  for (int i = 1; i <= 10; ++i) lost += pending.due(now + i * 200ms).lost.size();
  EXPECT_EQ(lost, 1U);
  EXPECT_TRUE(pending.empty());
}

TEST_F(PendingRequestsTest, OtherProgramsHaveTheirTime) {
  pending.sent(message(mad::Method::Get, 7, mad::MgmtClass::SubnAdm), now);
  EXPECT_TRUE(pending.due(now + 19s).lost.empty());
  const auto due = pending.due(now + 20s);
  EXPECT_TRUE(due.again.empty());
  EXPECT_EQ(due.lost.size(), 1U);
}

TEST_F(PendingRequestsTest, AnAnswerOfAnotherClassIsNotTheAnswer) {
  pending.sent(message(mad::Method::Get, 7), now);
  pending.answered(message(mad::Method::GetResp, 7, mad::MgmtClass::Perf), now);
  EXPECT_FALSE(pending.empty());
}

}  // namespace
}  // namespace heddle::simserve
