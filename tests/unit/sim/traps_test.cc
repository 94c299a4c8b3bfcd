#include <rapidcheck.h>

#include "unit/sim/sim_fixture.h"

namespace heddle::sim {
namespace {

using mad::Method;
using mad::SmAttr;

class TrapsTest : public SimTest {
 protected:
  TrapsTest() {
    bring_up(*fabric, {.sm_lid = Lid{3}});  // H0: two switches come first
    EXPECT_EQ(lid(0x10, 1), Lid{3});
    EXPECT_TRUE(fabric->set_is_sm(client, IsSm::Yes, now));
    pass(0s);
    repress_all();
    inbox.clear();
  }

  struct Trap {
    Lid from;
    mad::Notice notice;
  };
  [[nodiscard]] std::vector<Trap> traps() const {
    std::vector<Trap> all;
    for (const auto& received : inbox) {
      if (mad::read_header(received.packet.mad).method != Method::Trap) continue;
      all.push_back(
          {received.packet.address.slid, mad::decode<mad::Notice>(mad::smp_data(received.packet.mad))});
    }
    return all;
  }
  void repress(const mad::Packet& trap) {
    mad::Packet answer = trap;
    answer.address.dlid = trap.address.slid;
    answer.address.slid = no_lid;
    answer.mad[3] = static_cast<std::uint8_t>(Method::TrapRepress);
    fabric->send(now, client, answer);
  }
  void repress_all() {
    const auto all = inbox;
    for (const auto& received : all) repress(received.packet);
  }
};

TEST_F(TrapsTest, BothSwitchesTellOfACutLink) {
  fabric->cut(link(0x100, 3), now);
  pass(0s);
  const auto all = traps();
  ASSERT_EQ(all.size(), 2U);
  EXPECT_EQ(all[0].notice.trap, 128);
  EXPECT_EQ(all[0].notice.type, 1);
  EXPECT_EQ(all[0].notice.producer, 2U);
  EXPECT_EQ(all[0].from, lid(0x100, 0));
  EXPECT_EQ(all[0].notice.issuer, lid(0x100, 0));
  EXPECT_EQ(all[0].notice.data_lid(), lid(0x100, 0));
  EXPECT_EQ(all[1].from, lid(0x200, 0));
  EXPECT_TRUE(get<mad::SwitchInfo>({1}, SmAttr::SwitchInfo)->port_state_change);
}

TEST_F(TrapsTest, RepeatedUntilRepressed) {
  fabric->cut(link(0x20, 1), now);
  pass(0s);
  ASSERT_EQ(traps().size(), 1U);
  pass(1s);
  pass(1s);
  ASSERT_EQ(traps().size(), 3U);
  EXPECT_EQ(traps()[2].notice.count, 2);
  repress(inbox.back().packet);
  pass(5s);
  EXPECT_EQ(traps().size(), 3U);
}

TEST_F(TrapsTest, WhatHappensBeforeTheRepressIsToldAfterIt) {
  fabric->cut(link(0x20, 1), now);
  pass(0s);
  fabric->cut(link(0x40, 1), now);
  pass(0s);
  EXPECT_EQ(traps().size(), 1U);
  repress(inbox.back().packet);
  pass(0s);
  EXPECT_EQ(traps().size(), 2U);
  repress(inbox.back().packet);
  pass(5s);
  EXPECT_EQ(traps().size(), 2U);
}

TEST_F(TrapsTest, ALostTrapComesAgain) {
  auto block = *get<mad::LftBlock>({1, 3}, SmAttr::LinearForwardingTable);
  const auto good = block;
  block.ports[3] = no_path;
  set({1, 3}, SmAttr::LinearForwardingTable, 0, block);
  inbox.clear();
  fabric->cut(link(0x20, 1), now);
  pass(2s);
  EXPECT_TRUE(traps().empty());
  set({1, 3}, SmAttr::LinearForwardingTable, 0, good);
  pass(1s);
  EXPECT_EQ(traps().size(), 1U);
}

TEST_F(TrapsTest, ASetRaisesNoneOnItsOwnSide) {
  set_port({1}, 3, PortState::NoChange, PhysState::Disabled);
  inbox.clear();
  pass(1s);
  const auto all = traps();
  ASSERT_EQ(all.size(), 1U);
  EXPECT_EQ(all[0].from, lid(0x200, 0));
  EXPECT_FALSE(get<mad::SwitchInfo>({1}, SmAttr::SwitchInfo)->port_state_change);
  EXPECT_TRUE(get<mad::SwitchInfo>({1, 4}, SmAttr::SwitchInfo)->port_state_change);
  mad::SwitchInfo clear = *get<mad::SwitchInfo>({1, 4}, SmAttr::SwitchInfo);
  set({1, 4}, SmAttr::SwitchInfo, 0, clear);
  EXPECT_FALSE(get<mad::SwitchInfo>({1, 4}, SmAttr::SwitchInfo)->port_state_change);
}

TEST_F(TrapsTest, NoneWithoutTheCapability) {
  fabric->set_traits(node(0x200), {.traps = false});
  fabric->cut(link(0x20, 1), now);
  pass(5s);
  EXPECT_TRUE(traps().empty());
  EXPECT_TRUE(get<mad::SwitchInfo>({1, 3}, SmAttr::SwitchInfo)->port_state_change);
}

TEST_F(TrapsTest, CapabilityAndThresholdTraps) {
  const ClientId other = fabric->attach(port(0x40, 1), [](const mad::Packet&, Picoseconds) {}).value();
  ASSERT_TRUE(fabric->set_is_sm(other, IsSm::Yes, now));
  fabric->add_errors(port(0x100, 4), ErrorCounter::LocalLinkIntegrity, 1, now);
  fabric->add_errors(port(0x100, 4), ErrorCounter::ExcessiveBufferOverrun, 1, now);
  mad::Notice p_key;
  p_key.type = 2;
  p_key.trap = 257;
  fabric->raise_trap(node(0x20), p_key, now);
  pass(0s);
  const auto all = traps();
  ASSERT_EQ(all.size(), 4U);
  EXPECT_EQ(all[0].notice.trap, 144);
  EXPECT_EQ(all[0].notice.producer, 1U);
  EXPECT_EQ(all[0].notice.details[0], 0);
  EXPECT_EQ(Lid{all[0].notice.details[3]}, lid(0x40, 1));
  EXPECT_NE(all[0].notice.details[9] & 2U, 0U) << "the IsSM bit of the capability mask";
  EXPECT_EQ(all[1].notice.trap, 129);
  EXPECT_EQ(all[1].notice.details[4], 4) << "the port";
  EXPECT_EQ(all[2].notice.trap, 130);
  EXPECT_EQ(all[3].notice.trap, 257);
  EXPECT_EQ(all[3].from, lid(0x20, 1));
}

// As OpenSM does that stands by.
TEST_F(TrapsTest, AProgramsTrapIsRepressedToTheProgram) {
  std::vector<mad::Packet> got;
  const ClientId other =
      fabric->attach(port(0x40, 1), [&](const mad::Packet& packet, Picoseconds) { got.push_back(packet); })
          .value();
  mad::Packet trap;
  trap.address.dlid = lid(0x10, 1);
  mad::Header header;
  header.method = Method::Trap;
  header.attribute = static_cast<std::uint16_t>(SmAttr::Notice);
  header.tid = 0x1234;
  mad::write_header(header, trap.mad);
  mad::Notice notice;
  notice.trap = 144;
  mad::encode(notice, mad::smp_data(trap.mad));
  inbox.clear();
  fabric->send(now, other, trap);
  pass(0s);
  ASSERT_EQ(inbox.size(), 1U);
  mad::Packet answer = inbox[0].packet;
  EXPECT_EQ(mad::read_header(answer.mad).method, Method::Trap);
  std::swap(answer.address.dlid, answer.address.slid);
  answer.mad[3] = static_cast<std::uint8_t>(Method::TrapRepress);
  fabric->send(now, client, answer);
  pass(0s);
  ASSERT_EQ(got.size(), 1U);
  EXPECT_EQ(mad::read_header(got[0].mad).method, Method::TrapRepress);
  EXPECT_EQ(mad::read_header(got[0].mad).tid & 0xffffU, 0x1234U);
}

class KeyTest : public TrapsTest {
 protected:
  static constexpr std::uint64_t key = 0xabcdef;

  void protect(std::uint8_t level, std::uint16_t lease = 0) {
    auto info = *get<mad::PortInfo>({1}, SmAttr::PortInfo);
    info.m_key = key;
    info.m_key_protect = level;
    info.m_key_lease_period = lease;
    info.state = PortState::NoChange;
    ASSERT_EQ(set({1}, SmAttr::PortInfo, 0, info), mad::status::ok);
  }
  std::optional<mad::PortInfo> read(std::uint64_t with) {
    mad::Packet packet = directed({1}, Method::Get, SmAttr::PortInfo);
    auto header = mad::read_header(packet.mad);
    header.m_key = with;
    mad::write_header(header, packet.mad);
    inbox.clear();
    fabric->send(now, client, packet);
    fabric->advance(now);
    for (const auto& received : inbox) {
      if (mad::is_response(mad::read_header(received.packet.mad).method)) {
        return mad::decode<mad::PortInfo>(mad::smp_data(received.packet.mad));
      }
    }
    return std::nullopt;
  }
};

TEST_F(KeyTest, ProtectionLevels) {
  protect(0);
  EXPECT_EQ(read(0)->m_key, key);
  auto info = *read(key);
  EXPECT_FALSE(set({1}, SmAttr::PortInfo, 0, info)) << "a Set needs the key at any level";

  start({.m_key = key, .m_key_protect = 1});
  EXPECT_EQ(read(0)->m_key, 0U);
  EXPECT_EQ(read(key)->m_key, key);

  start({.m_key = key, .m_key_protect = 2});
  EXPECT_FALSE(read(0));
  EXPECT_EQ(read(key)->m_key_violations, 1);
}

TEST_F(KeyTest, AWrongKeyRaisesTrap256AndTheLeaseEndsTheProtection) {
  protect(2, 10);
  EXPECT_FALSE(read(7));
  const auto all = traps();
  ASSERT_EQ(all.size(), 1U);
  EXPECT_EQ(all[0].notice.trap, 256);
  EXPECT_EQ(all[0].notice.details[9], 0x15);
  EXPECT_EQ(all[0].notice.details[21], 7);
  pass(9s);
  EXPECT_FALSE(read(0));
  pass(1s);
  ASSERT_TRUE(read(0));
  EXPECT_EQ(read(0)->m_key_protect, 0);
  EXPECT_EQ(read(0)->m_key, key);
}

TEST_F(KeyTest, TheRightKeyStopsTheLease) {
  protect(2, 10);
  EXPECT_FALSE(read(7));
  pass(5s);
  EXPECT_TRUE(read(key));
  pass(20s);
  EXPECT_FALSE(read(0));
}

}  // namespace
}  // namespace heddle::sim
