#include <rapidcheck.h>

#include "unit/sim/sim_fixture.h"

namespace heddle::sim {
namespace {

using mad::Method;
using mad::PmAttr;
using mad::SmAttr;

class FaultsTest : public SimTest {
 protected:
  FaultsTest() { bring_up(*fabric); }

  std::size_t answers(int requests) {
    inbox.clear();
    for (int i = 0; i < requests; ++i) {
      fabric->send(now, client, perf(lid(0x40, 1), Method::Get, PmAttr::ClassPortInfo));
    }
    fabric->advance(now);
    return inbox.size();
  }
};

TEST_F(FaultsTest, LostAtTheirRateAndTheSameEachRun) {
  fabric->set_mad_faults({.lost = Ratio{0.1}});
  const std::size_t first = answers(1000);
  EXPECT_NEAR(static_cast<double>(first), 810, 60);  // 0.9 x 0.9
  start({});
  bring_up(*fabric);
  fabric->set_mad_faults({.lost = Ratio{0.1}});
  EXPECT_EQ(answers(1000), first);
  fabric->set_mad_faults({});
  EXPECT_EQ(answers(1000), 1000U);
}

TEST_F(FaultsTest, DuplicatedAndDelayed) {
  fabric->set_mad_faults({.duplicated = Ratio{1}});
  EXPECT_EQ(answers(1), 4U);
  fabric->set_mad_faults({.delayed = Ratio{1}, .delay = 1s});
  EXPECT_EQ(answers(1), 0U);
  pass(2s);
  EXPECT_EQ(inbox.size(), 1U);
}

TEST_F(FaultsTest, AgentsThatAnswerWrongly) {
  const Lid far = lid(0x40, 1);
  fabric->set_agent_faults(node(0x40), {.wrong_tid = true});
  EXPECT_NE(mad::read_header(ask(perf(far, Method::Get, PmAttr::ClassPortInfo))->mad).tid & 0xffffffffU,
            0x11223344U);
  fabric->set_agent_faults(node(0x40), {.wrong_attribute = true});
  EXPECT_NE(mad::read_header(ask(perf(far, Method::Get, PmAttr::ClassPortInfo))->mad).attribute, 1);
  fabric->set_agent_faults(node(0x40), {.mute_pma = true});
  EXPECT_FALSE(ask(perf(far, Method::Get, PmAttr::ClassPortInfo)));
  EXPECT_TRUE(ask(directed({1, 3, 2}, Method::Get, SmAttr::NodeInfo)));
  fabric->set_agent_faults(node(0x40), {.mute_sma = true});
  EXPECT_FALSE(ask(directed({1, 3, 2}, Method::Get, SmAttr::NodeInfo)));
  fabric->set_agent_faults(node(0x40), {.slow = 1s});
  EXPECT_FALSE(ask(perf(far, Method::Get, PmAttr::ClassPortInfo)));
  pass(1s);
  EXPECT_EQ(inbox.size(), 1U);
}

TEST_F(FaultsTest, AnSmaWorksOnOneSmpAtATime) {
  start({.smp_service = 10us});
  for (int i = 0; i < 3; ++i) fabric->send(now, client, directed({1}, Method::Get, SmAttr::NodeInfo));
  fabric->send(now, client, directed({1, 3}, Method::Get, SmAttr::NodeInfo));
  pass(10us);
  EXPECT_EQ(inbox.size(), 2U);
  pass(20us);
  EXPECT_EQ(inbox.size(), 4U);
}

TEST_F(FaultsTest, TwoNodesWithOneGuid) {
  fabric->set_guid(node(0x40), NodeGuid{0x20});
  EXPECT_EQ(get<mad::NodeInfo>({1, 3, 2}, SmAttr::NodeInfo)->node_guid, NodeGuid{0x20});
  EXPECT_EQ(get<mad::NodeInfo>({1, 3, 1}, SmAttr::NodeInfo)->node_guid, NodeGuid{0x20});
}

TEST_F(FaultsTest, VendorMadsAreRefusedPolitely) {
  mad::Packet packet = perf(lid(0x40, 1), Method::Get, PmAttr{0x50});
  packet.mad[1] = 0x0a;
  const auto answer = ask(packet);
  ASSERT_TRUE(answer);
  EXPECT_EQ(mad::read_header(answer->mad).status, mad::status::bad_method_attribute);
}

/// What anyone may send: random bytes, more or less like a MAD.
mad::Packet rubbish() {
  mad::Packet packet;
  for (auto& byte : packet.mad) byte = *rc::gen::arbitrary<std::uint8_t>();
  const auto classes = rc::gen::element<std::uint8_t>(0x01, 0x81, 0x03, 0x04, 0x0a, 0x07);
  const auto methods = rc::gen::element<std::uint8_t>(1, 2, 3, 5, 6, 7, 0x81, 0x86);
  if (*rc::gen::inRange(0, 8) != 0) {
    packet.mad[0] = 1;
    packet.mad[1] = *classes;
    packet.mad[2] = 1;
    packet.mad[3] = *methods;
    packet.mad[16] = *rc::gen::element<std::uint8_t>(0, 0, 0, 0xff);
    packet.mad[17] = *rc::gen::inRange<std::uint8_t>(0x10, 0x32);
    packet.mad[18] = packet.mad[19] = 0;
    packet.mad[20] = *rc::gen::element<std::uint8_t>(0, 0x80, 0x10);
    packet.mad[21] = *rc::gen::inRange<std::uint8_t>(0, 5);
    packet.mad[22] = *rc::gen::inRange<std::uint8_t>(0, 10);
    packet.mad[23] = *rc::gen::inRange<std::uint8_t>(0, 12);
  }
  if (packet.mad[1] == 0x81 && *rc::gen::inRange(0, 4) != 0) {
    packet.mad[4] = *rc::gen::element<std::uint8_t>(0, 0, 0, 0x80);
    packet.mad[6] = 0;
    packet.mad[7] = *rc::gen::inRange<std::uint8_t>(0, 4);
    for (const std::size_t at : {32U, 33U, 34U, 35U}) packet.mad[at] = 0xff;
    for (std::size_t i = 1; i < 5; ++i) packet.mad[128 + i] = *rc::gen::inRange<std::uint8_t>(0, 9);
  }
  packet.address.dlid =
      Lid{*rc::gen::oneOf(rc::gen::inRange<std::uint16_t>(0, 9), rc::gen::arbitrary<std::uint16_t>())};
  packet.address.dqp = *rc::gen::inRange<std::uint32_t>(0, 3);
  packet.address.sl = Sl{*rc::gen::arbitrary<std::uint8_t>()};
  return packet;
}

TEST_F(FaultsTest, RandomBytesNeverCrashAndEveryAnswerIsWellFormed) {
  EXPECT_TRUE(rc::check([this] {
    start({.mad_latency = Picoseconds{*rc::gen::inRange(0, 2) * 1000}});
    bring_up(*fabric, {.sm_lid = Lid{3}});
    if (*rc::gen::arbitrary<bool>()) fabric->set_mad_faults({.corrupted = Ratio{0.2}});
    for (int i = 0; i < 40; ++i) {
      const mad::Packet packet = rubbish();
      fabric->send(now, client, packet);
      pass(Picoseconds{3000});
    }
    fabric->set_mad_faults({});
    pass(1s);
    inbox.clear();
    const mad::Packet packet = rubbish();
    fabric->send(now, client, packet);
    pass(Picoseconds{3000});
    for (const auto& received : inbox) {
      const mad::Header header = mad::read_header(received.packet.mad);
      RC_ASSERT(received.packet.mad[0] == 1);
      if (header.method == Method::Trap || !mad::is_response(header.method)) continue;
      const mad::Header asked = mad::read_header(packet.mad);
      if (mad::is_response(asked.method)) continue;  // what the client itself sent to itself
      RC_ASSERT(header.method == Method::GetResp);
      RC_ASSERT(header.mgmt_class == asked.mgmt_class);
      RC_ASSERT(header.attribute == asked.attribute);
      RC_ASSERT(header.modifier == asked.modifier);
      RC_ASSERT((header.tid & 0xffffffffffffU) == (asked.tid & 0xffffffffffffU));
      RC_ASSERT((header.status & 0xff00U) == 0);
    }
  }));
}

}  // namespace
}  // namespace heddle::sim
