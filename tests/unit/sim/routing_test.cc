// How MADs find their way.

#include "unit/sim/sim_fixture.h"

namespace heddle::sim {
namespace {

using mad::Method;
using mad::PmAttr;
using mad::SmAttr;

class RoutingTest : public SimTest {
 protected:
  RoutingTest() { bring_up(*fabric); }

  void point(std::uint64_t guid, Lid to, PortNum out) {
    const std::vector<std::uint8_t> hops =
        guid == 0x100 ? std::vector<std::uint8_t>{1} : std::vector<std::uint8_t>{1, 3};
    auto block = *get<mad::LftBlock>(hops, SmAttr::LinearForwardingTable);
    block.ports[to.raw()] = out;
    ASSERT_EQ(set(hops, SmAttr::LinearForwardingTable, 0, block), mad::status::ok);
  }
  bool reaches(std::uint64_t guid) {
    const std::uint8_t num = guid >= 0x100 ? 0 : 1;
    return ask(perf(lid(guid, num), Method::Get, PmAttr::ClassPortInfo)).has_value();
  }
};

TEST_F(RoutingTest, GmpsFollowTheTables) {
  for (const std::uint64_t guid : {0x10, 0x20, 0x30, 0x40, 0x100, 0x200}) EXPECT_TRUE(reaches(guid)) << guid;
}

/// ibping's class, for one.
TEST_F(RoutingTest, RequestsOfOtherClassesGoToWhoTakesThem) {
  constexpr auto vendor = static_cast<mad::MgmtClass>(0x32);
  std::vector<mad::Packet> arrived;
  const ClientId other = *fabric->attach(
      port(0x20, 1), [&](const mad::Packet& packet, Picoseconds) { arrived.push_back(packet); });
  mad::Packet ping = request(vendor, Method::Get, 0, 0);
  ping.address = {.dlid = lid(0x20, 1), .dqp = mad::gsi_qp, .sqp = mad::gsi_qp};
  const auto send = [&] {
    fabric->send(now, client, ping);
    pass(1ms);
  };
  send();
  EXPECT_TRUE(arrived.empty());
  fabric->take_other_classes(other);
  send();
  ASSERT_EQ(arrived.size(), 1U);
  EXPECT_EQ(arrived[0].address.slid, lid(0x10, 1));
  fabric->detach(other);
  send();
  EXPECT_EQ(arrived.size(), 1U);
}

TEST_F(RoutingTest, AWrongTableLosesThem) {
  const Lid far = lid(0x40, 1);
  point(0x100, far, no_path);
  EXPECT_FALSE(reaches(0x40));
  point(0x100, far, PortNum{7});  // no cable
  EXPECT_FALSE(reaches(0x40));
  point(0x100, far, PortNum{2});  // another host
  EXPECT_FALSE(reaches(0x40));
  point(0x100, far, PortNum{0});  // the switch itself
  EXPECT_FALSE(reaches(0x40));
  point(0x100, far, PortNum{99});
  EXPECT_FALSE(reaches(0x40));
  point(0x100, far, PortNum{3});
  EXPECT_TRUE(reaches(0x40));
}

TEST_F(RoutingTest, ALoopEnds) {
  const Lid far = lid(0x40, 1);
  point(0x100, far, PortNum{3});
  point(0x200, far, PortNum{3});
  EXPECT_FALSE(reaches(0x40));
}

TEST_F(RoutingTest, ALostWayBackLosesTheAnswer) {
  point(0x200, lid(0x10, 1), no_path);
  EXPECT_FALSE(reaches(0x40));
  EXPECT_TRUE(reaches(0x30));
}

TEST_F(RoutingTest, BeyondTheTopOfTheTableNothingIsForwarded) {
  auto info = *get<mad::SwitchInfo>({1}, SmAttr::SwitchInfo);
  info.linear_fdb_top = static_cast<std::uint16_t>(lid(0x40, 1).raw() - 1);
  ASSERT_EQ(set({1}, SmAttr::SwitchInfo, 0, info), mad::status::ok);
  EXPECT_FALSE(reaches(0x40));
}

TEST_F(RoutingTest, GmpsNeedActivePortsAndSmpsOnlyLinks) {
  const Lid far = lid(0x40, 1);
  point(0x100, far, PortNum{3});
  set_port({1}, 3, PortState::Down, PhysState::NoChange);  // both ends fall back to Init
  EXPECT_FALSE(reaches(0x40));
  EXPECT_TRUE(ask(to_lid(far, Method::Get, SmAttr::NodeInfo)));
  set_port({1}, 3, PortState::NoChange, PhysState::Disabled);
  EXPECT_FALSE(ask(to_lid(far, Method::Get, SmAttr::NodeInfo)));
  EXPECT_TRUE(ask(directed({1, 4, 2}, Method::Get, SmAttr::NodeInfo)));
}

TEST_F(RoutingTest, EveryLidOfAPortReachesIt) {
  start({});
  bring_up(*fabric, {.lmc = 2});
  const Lid base = lid(0x40, 1);
  EXPECT_EQ(base.raw() % 4, 0);
  for (std::uint16_t i = 0; i < 4; ++i) {
    EXPECT_TRUE(
        ask(perf(Lid{static_cast<std::uint16_t>(base.raw() + i)}, Method::Get, PmAttr::ClassPortInfo)));
  }
  EXPECT_EQ(fabric->port_of(Lid{static_cast<std::uint16_t>(base.raw() + 3)}), port(0x40, 1));
}

TEST_F(RoutingTest, ARouteThatBeginsByLid) {
  mad::Packet packet = directed({2}, Method::Get, SmAttr::NodeDescription);
  packet.address.dlid = lid(0x200, 0);
  packet.address.slid = lid(0x10, 1);
  auto route = mad::read_directed_route(packet.mad);
  route.dr_slid = lid(0x10, 1);
  mad::write_directed_route(route, packet.mad);
  const auto answer = ask(packet);
  ASSERT_TRUE(answer);
  EXPECT_EQ(mad::decode<mad::NodeDescription>(mad::smp_data(answer->mad)).text, "H3");
}

TEST_F(RoutingTest, LatencyDelaysBothWays) {
  start({.mad_latency = 10us});
  bring_up(*fabric);
  fabric->send(now, client, perf(lid(0x40, 1), Method::Get, PmAttr::ClassPortInfo));
  fabric->advance(19us);
  EXPECT_TRUE(inbox.empty());
  EXPECT_EQ(fabric->next_event(), Picoseconds{20us});
  fabric->advance(20us);
  ASSERT_EQ(inbox.size(), 1U);
  EXPECT_EQ(inbox[0].at, Picoseconds{20us});
}

TEST_F(RoutingTest, CongestionDelaysGmpsOnly) {
  struct Queues : CounterSource {
    PortTotals read(PortIndex, Picoseconds) override { return {}; }
    Picoseconds queue_delay(PortIndex, Vl, Picoseconds) override { return 5us; }
  } queues;
  start({.congested_gmps = true});
  bring_up(*fabric);
  fabric->set_counter_source(&queues);
  fabric->send(now, client, perf(lid(0x40, 1), Method::Get, PmAttr::ClassPortInfo));
  EXPECT_TRUE(ask(to_lid(lid(0x40, 1), Method::Get, SmAttr::NodeInfo)));
  fabric->advance(29us);
  EXPECT_EQ(inbox.size(), 1U);
  fabric->advance(30us);  // three output ports each way
  EXPECT_EQ(inbox.size(), 2U);
  fabric->set_counter_source(nullptr);
}

TEST_F(RoutingTest, ClientsOfOnePortGetTheirOwnAnswers) {
  std::deque<mad::Packet> other_inbox;
  const ClientId other = fabric
                             ->attach(port(0x10, 1), [&](const mad::Packet& packet,
                                                         Picoseconds) { other_inbox.push_back(packet); })
                             .value();
  EXPECT_FALSE(ask(other, directed({1}, Method::Get, SmAttr::NodeInfo)));
  EXPECT_EQ(other_inbox.size(), 1U);
  EXPECT_TRUE(ask(client, directed({1}, Method::Get, SmAttr::NodeInfo)));
  EXPECT_EQ(other_inbox.size(), 1U);
  fabric->detach(other);
  fabric->send(now, other, directed({1}, Method::Get, SmAttr::NodeInfo));
  fabric->advance(now);
  EXPECT_EQ(other_inbox.size(), 1U);
}

TEST_F(RoutingTest, OnlyManagementPortsCanBeOpened) {
  const auto receiver = [](const mad::Packet&, Picoseconds) {};
  EXPECT_FALSE(fabric->attach(port(0x100, 3), receiver));
  EXPECT_FALSE(fabric->attach(port(0x10, 0), receiver));
  EXPECT_FALSE(fabric->attach(PortIndex{9999}, receiver));
  EXPECT_TRUE(fabric->attach(port(0x100, 0), receiver));
}

TEST_F(RoutingTest, SubnetManagersTalkToEachOther) {
  std::deque<mad::Packet> asked;
  const ClientId sm =
      fabric->attach(port(0x40, 1), [&](const mad::Packet& packet, Picoseconds) { asked.push_back(packet); })
          .value();
  const mad::Packet query = to_lid(lid(0x40, 1), Method::Get, SmAttr::SmInfo);
  EXPECT_EQ(mad::read_header(ask(query)->mad).status, mad::status::bad_method_attribute);
  ASSERT_TRUE(fabric->set_is_sm(sm, IsSm::Yes, now));
  EXPECT_NE(fabric->port_info(port(0x40, 1)).capability_mask & mad::port_cap::is_sm, 0U);
  EXPECT_FALSE(ask(query));
  ASSERT_EQ(asked.size(), 1U);
  mad::Packet answer = asked[0];
  std::swap(answer.address.dlid, answer.address.slid);
  answer.mad[3] = static_cast<std::uint8_t>(Method::GetResp);
  inbox.clear();
  fabric->send(now, sm, answer);
  fabric->advance(now);
  ASSERT_EQ(inbox.size(), 1U);
  EXPECT_EQ(mad::read_header(inbox[0].packet.mad).tid & 0xffffffffU, 0x11223344U);

  const ClientId second = fabric->attach(port(0x40, 1), [](const mad::Packet&, Picoseconds) {}).value();
  EXPECT_FALSE(fabric->set_is_sm(second, IsSm::Yes, now));
  fabric->detach(sm);
  EXPECT_TRUE(fabric->set_is_sm(second, IsSm::Yes, now));
}

}  // namespace
}  // namespace heddle::sim
