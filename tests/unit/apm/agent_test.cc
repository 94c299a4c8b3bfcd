// The protocol of hosts' agents: what is sealed, what is obeyed, and once only.

#include "apm/agent.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "apm/wire.h"
#include "base/network_order.h"

namespace heddle::apm {
namespace {

constexpr Lid manager{7};
constexpr Lid here{21};
constexpr PortGuid port{0x1234};

Key key_of(std::uint8_t byte) {
  Key key;
  key.fill(byte);
  return key;
}

/// A host whose connections are where they are told to be, but for those that are stuck.
class FakeHost final : public Host {
 public:
  Standing standing() override {
    Standing now;
    now.connections = connections;
    now.in_plane[plane] = connections - stuck;
    now.in_plane[1 - plane] = stuck;
    now.armed = armed;
    now.moving = moving;
    now.trouble = trouble;
    return now;
  }
  void arm() override { armed = connections; }
  void move(unsigned to) override {
    plane = to;
    ++moves;
  }
  Result<void> keep(std::uint64_t sequence) override {
    if (disk_is_full) return fail(ErrorCode::Io, "full");
    kept = sequence;
    return {};
  }
  std::uint32_t connections = 4;
  std::uint32_t stuck = 0;
  std::uint32_t armed = 0;
  std::uint32_t moving = 0;
  unsigned plane = 0;
  unsigned moves = 0;
  std::uint64_t kept = 0;
  bool disk_is_full = false;
  std::string trouble;
};

class AgentTest : public ::testing::Test {
 protected:
  [[nodiscard]] mad::Packet question(Attribute attribute = Attribute::Connections) {
    const auto method = attribute == Attribute::Connections ? mad::Method::Get : mad::Method::Set;
    mad::Packet packet = request(method, attribute, here, port);
    packet.address.slid = manager;
    return packet;
  }
  [[nodiscard]] mad::Packet move_to(std::uint8_t plane, std::uint64_t number = 1) {
    mad::Packet packet = question(Attribute::Move);
    encode(MoveOrder{number, plane}, packet.mad);
    return packet;
  }
  std::optional<mad::Packet> ask(mad::Packet packet) {
    sealer.seal_request(++clock, packet.mad);
    return agent.answer(packet, manager);
  }
  static Standing said(const std::optional<mad::Packet>& answer) {
    return read_standing(answer.value().mad).value();
  }
  static std::uint16_t status_of(const std::optional<mad::Packet>& answer) {
    return mad::read_header(answer.value().mad).status;
  }

  FakeHost host;
  std::uint64_t clock = 1000;
  Sealer sealer{key_of(1)};
  Agent agent{{.key = key_of(1), .port = port, .obeys = {Lid{9}}, .incarnation = 5}, host};
};

TEST_F(AgentTest, SaysHowConnectionsStand) {
  const auto answer = ask(question());
  EXPECT_TRUE(sealer.admit_answer(answer.value().mad));
  EXPECT_EQ(answer->address.dlid, manager);
  EXPECT_EQ(answer->address.slid, here);
  const Standing standing = said(answer);
  EXPECT_EQ(standing.connections, 4U);
  EXPECT_THAT(standing.in_plane, ::testing::ElementsAre(4, 0));
  EXPECT_EQ(standing.progress, Progress::None);
  EXPECT_EQ(standing.incarnation, 5U);
}

TEST_F(AgentTest, MovesAndSaysWhatHasBecomeOfIt) {
  host.stuck = 3;
  host.moving = 3;
  EXPECT_EQ(said(ask(move_to(1, 77))).progress, Progress::Moving);
  EXPECT_EQ(host.plane, 1U);
  host.moving = 0;
  EXPECT_EQ(said(ask(question())).progress, Progress::Partial);
  host.stuck = 4;
  EXPECT_EQ(said(ask(question())).progress, Progress::Failed);
  host.stuck = 0;
  const Standing moved = said(ask(question()));
  EXPECT_EQ(moved.progress, Progress::Moved);
  EXPECT_EQ(moved.order, 77U);
  EXPECT_EQ(moved.plane, 1U);
}

TEST_F(AgentTest, ArmsWhatIsToBeArmed) {
  EXPECT_EQ(said(ask(question(Attribute::Arm))).armed, 4U);
  EXPECT_EQ(host.moves, 0U);
}

TEST_F(AgentTest, AnOrderIsObeyedOnceAlsoByTheNextRun) {
  mad::Packet order = move_to(1);
  sealer.seal_request(++clock, order.mad);
  ASSERT_TRUE(agent.answer(order, manager));
  EXPECT_EQ(status_of(agent.answer(order, manager)), status::stale);
  EXPECT_EQ(host.moves, 1U);
  Agent next{{.key = key_of(1), .port = port, .last_sequence = host.kept, .incarnation = 6}, host};
  EXPECT_EQ(status_of(next.answer(order, manager)), status::stale);
  EXPECT_EQ(host.moves, 1U);
  EXPECT_EQ(next.standing().progress, Progress::None);
}

TEST_F(AgentTest, ADaemonWhoseClockIsBehindLearnsTheNumber) {
  ASSERT_TRUE(ask(move_to(1)));
  Sealer other{key_of(1)};
  mad::Packet order = move_to(0);
  other.seal_request(5, order.mad);
  const auto refusal = agent.answer(order, manager);
  ASSERT_EQ(status_of(refusal), status::stale);
  EXPECT_TRUE(other.admit_answer(refusal->mad));
  other.seal_request(6, order.mad);
  EXPECT_EQ(status_of(agent.answer(order, manager)), mad::status::ok);
  EXPECT_EQ(host.plane, 0U);
}

TEST_F(AgentTest, StrangersAndForgersAreNotAnswered) {
  mad::Packet order = move_to(1);
  EXPECT_FALSE(agent.answer(order, manager)) << "no tag";
  Sealer forger{key_of(2)};
  forger.seal_request(clock + 1000, order.mad);
  EXPECT_FALSE(agent.answer(order, manager)) << "another key";
  sealer.seal_request(++clock, order.mad);
  order.address.slid = Lid{8};
  EXPECT_FALSE(agent.answer(order, manager)) << "another LID";
  order.address.slid = Lid{9};
  EXPECT_TRUE(agent.answer(order, manager)) << "one that is listed";
  EXPECT_EQ(host.moves, 1U);
  order = move_to(1);
  order.address.slid = Lid{};
  sealer.seal_request(++clock, order.mad);
  EXPECT_FALSE(agent.answer(order, Lid{})) << "no subnet manager is nobody";
  EXPECT_EQ(agent.statistics().strangers, 2U);
  EXPECT_EQ(agent.statistics().unsealed, 2U);
}

TEST_F(AgentTest, WhatIsForAnotherPortIsNotObeyed) {
  mad::Packet order = request(mad::Method::Set, Attribute::Move, here, PortGuid{0x999});
  order.address.slid = manager;
  EXPECT_FALSE(ask(order));
  EXPECT_EQ(host.moves, 0U);
}

TEST_F(AgentTest, EveryByteThatMattersIsSealed) {
  const mad::Packet order = [&] {
    mad::Packet packet = move_to(1);
    sealer.seal_request(++clock, packet.mad);
    return packet;
  }();
  for (std::size_t i = 0; i < message_end; ++i) {
    mad::Packet other = order;
    other.mad[i] ^= 1U;
    const bool upper_tid = i >= 8 && i < 12;
    EXPECT_EQ(is_sealed(key_of(1), other.mad), upper_tid) << "byte " << i;
  }
}

TEST_F(AgentTest, WhatCannotBeWrittenDownIsNotObeyed) {
  host.disk_is_full = true;
  EXPECT_EQ(status_of(ask(move_to(1))), status::not_kept);
  EXPECT_EQ(host.moves, 0U);
}

TEST_F(AgentTest, AnotherVersionAPlaneTooManyAndResponsesAreNothing) {
  mad::Packet packet = question();
  packet.mad[version_offset] = 2;
  EXPECT_FALSE(ask(packet));
  EXPECT_EQ(status_of(ask(move_to(2))), mad::status::bad_field);
  EXPECT_EQ(host.moves, 0U);
  const auto answer = ask(question());
  EXPECT_FALSE(agent.answer(*answer, manager));
}

TEST_F(AgentTest, AnswersOfAnEarlierRunOfTheDaemonAreNotAdmitted) {
  const auto answer = ask(question());
  Sealer next{key_of(1)};
  EXPECT_FALSE(next.admit_answer(answer.value().mad)) << "it has asked nothing";
  mad::Packet packet = question();
  next.seal_request(clock + 50, packet.mad);
  EXPECT_FALSE(next.admit_answer(answer->mad));
  EXPECT_FALSE(next.admit_answer(packet.mad)) << "a question is no answer";
}

TEST(Message, AStandingThatContradictsItselfIsRefused) {
  mad::Packet packet = request(mad::Method::GetResp, Attribute::Connections, here, port);
  Standing standing{.plane = 1, .progress = Progress::Moved, .connections = 4, .in_plane = {1, 3}};
  encode(standing, packet.mad);
  EXPECT_FALSE(read_standing(packet.mad)) << "all have moved, and one has not";
  standing.progress = Progress::Partial;
  encode(standing, packet.mad);
  EXPECT_EQ(read_standing(packet.mad).value(), standing);
  standing.in_plane = {4, 4};
  encode(standing, packet.mad);
  EXPECT_FALSE(read_standing(packet.mad));
}

TEST(Message, TroubleIsCutAtItsBound) {
  mad::Packet packet = request(mad::Method::GetResp, Attribute::Connections, here, port);
  encode(Standing{.trouble = std::string(500, 'x')}, packet.mad);
  EXPECT_EQ(read_standing(packet.mad).value().trouble, std::string(Standing::most_trouble, 'x'));
  EXPECT_THAT(std::span{packet.mad}.subspan(message_end), ::testing::Each(0));
}

TEST(KeyTest, IsSixtyFourDigits) {
  EXPECT_EQ(parse_key(std::string(64, 'f') + "\n").value(), key_of(0xff));
  for (const std::string& wrong :
       {std::string(63, 'f'), std::string(64, 'g'), std::string{}, std::string(65, '0')}) {
    EXPECT_FALSE(parse_key(wrong));
  }
}

// The same bytes by Python's hmac: hmac.new(b"\x01" * 32, the first 232 bytes, "sha256").
TEST(Seal, IsHmacSha256OfWhatIsSent) {
  mad::Packet packet = request(mad::Method::Get, Attribute::Connections, here, port);
  set_sequence(1, packet.mad);
  seal(key_of(1), packet.mad);
  EXPECT_EQ(from_network<std::uint64_t>(&packet.mad[tag_offset]), 0x649d3a989f91f642U);
}

}  // namespace
}  // namespace heddle::apm
