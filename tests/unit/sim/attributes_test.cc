#include "unit/sim/sim_fixture.h"

namespace heddle::sim {
namespace {

using mad::Method;
using mad::SmAttr;

class AttributesTest : public SimTest {};

TEST_F(AttributesTest, NodeInfoTellsTheIngressPort) {
  const auto local = get<mad::NodeInfo>({}, SmAttr::NodeInfo);
  ASSERT_TRUE(local);
  EXPECT_EQ(local->node_guid, NodeGuid{0x10});
  EXPECT_EQ(local->port_guid, PortGuid{0x11});
  EXPECT_EQ(local->local_port, PortNum{1});
  const auto near = get<mad::NodeInfo>({1}, SmAttr::NodeInfo);
  ASSERT_TRUE(near);
  EXPECT_EQ(near->type, NodeType::Switch);
  EXPECT_EQ(near->port_count, 8);
  EXPECT_EQ(near->local_port, PortNum{1});
  const auto far = get<mad::NodeInfo>({1, 4, 2}, SmAttr::NodeInfo);
  ASSERT_TRUE(far);
  EXPECT_EQ(far->node_guid, NodeGuid{0x40});
  EXPECT_EQ(far->vendor_id, 0x2c9U);
}

TEST_F(AttributesTest, DirectedRouteComesBackWithItsReturnPath) {
  const auto answer = ask(directed({1, 4, 2}, Method::Get, SmAttr::NodeDescription));
  ASSERT_TRUE(answer);
  const auto route = mad::read_directed_route(answer->mad);
  EXPECT_TRUE(route.returning);
  EXPECT_EQ(route.hop_pointer, 0);
  EXPECT_EQ(route.return_path[1], PortNum{1});
  EXPECT_EQ(route.return_path[2], PortNum{4});
  EXPECT_EQ(route.return_path[3], PortNum{1});
  EXPECT_EQ(mad::decode<mad::NodeDescription>(mad::smp_data(answer->mad)).text, "H3");
  EXPECT_EQ(mad::read_header(answer->mad).tid & 0xffffffffU, 0x11223344U);
}

TEST_F(AttributesTest, RoutesIntoNowhereAreLost) {
  EXPECT_FALSE(ask(directed({2}, Method::Get, SmAttr::NodeInfo)));        // not the client's port
  EXPECT_FALSE(ask(directed({1, 7}, Method::Get, SmAttr::NodeInfo)));     // no cable
  EXPECT_FALSE(ask(directed({1, 9}, Method::Get, SmAttr::NodeInfo)));     // beyond the switch
  EXPECT_FALSE(ask(directed({1, 2, 1}, Method::Get, SmAttr::NodeInfo)));  // through a host
  EXPECT_EQ(fabric->statistics().lost_route, 4U);
}

TEST_F(AttributesTest, SwitchInfoKeepsWhatIsSet) {
  auto info = get<mad::SwitchInfo>({1}, SmAttr::SwitchInfo);
  ASSERT_TRUE(info);
  EXPECT_EQ(info->linear_fdb_cap, 0xc000);
  info->linear_fdb_top = 99;
  info->life_time = 7;
  info->linear_fdb_cap = 5;  // read-only
  EXPECT_EQ(set({1}, SmAttr::SwitchInfo, 0, *info), mad::status::ok);
  const auto again = get<mad::SwitchInfo>({1}, SmAttr::SwitchInfo);
  ASSERT_TRUE(again);
  EXPECT_EQ(again->linear_fdb_top, 99);
  EXPECT_EQ(again->life_time, 7);
  EXPECT_EQ(again->linear_fdb_cap, 0xc000);
  EXPECT_FALSE(get<mad::SwitchInfo>({}, SmAttr::SwitchInfo));
}

TEST_F(AttributesTest, AnOrderToRegisterAnewIsNoSetting) {
  auto info = get<mad::PortInfo>({}, SmAttr::PortInfo, 1);
  ASSERT_TRUE(info);
  info->state = PortState::NoChange;
  info->physical = PhysState::NoChange;
  for (unsigned orders = 1; orders <= 2; ++orders) {
    info->client_reregister = 1;
    EXPECT_EQ(set({}, SmAttr::PortInfo, 1, *info), mad::status::ok);
    EXPECT_EQ(get<mad::PortInfo>({}, SmAttr::PortInfo, 1)->client_reregister, 0);
    info->client_reregister = 0;
    EXPECT_EQ(set({}, SmAttr::PortInfo, 1, *info), mad::status::ok);
    EXPECT_EQ(fabric->port_info(port(0x10, 1)).client_reregister, orders) << "none is missed";
  }
}

TEST_F(AttributesTest, PortInfoOfAnyPortOfASwitch) {
  const auto wired = get<mad::PortInfo>({1}, SmAttr::PortInfo, 3);
  ASSERT_TRUE(wired);
  EXPECT_EQ(wired->state, PortState::Init);
  EXPECT_EQ(wired->physical, PhysState::LinkUp);
  EXPECT_EQ(mad::active_width(*wired), LinkWidth::X4);
  EXPECT_EQ(wired->local_port, PortNum{1});
  const auto open = get<mad::PortInfo>({1}, SmAttr::PortInfo, 7);
  ASSERT_TRUE(open);
  EXPECT_EQ(open->state, PortState::Down);
  EXPECT_EQ(open->physical, PhysState::Polling);
  const auto beyond = ask(directed({1}, Method::Get, SmAttr::PortInfo, 9));
  ASSERT_TRUE(beyond);
  EXPECT_EQ(mad::read_header(beyond->mad).status, mad::status::bad_field);
}

TEST_F(AttributesTest, ForwardingTableBlocksReadBack) {
  mad::LftBlock block;
  for (std::size_t i = 0; i < block.ports.size(); ++i) block.ports[i] = PortNum{static_cast<std::uint8_t>(i)};
  EXPECT_EQ(set({1}, SmAttr::LinearForwardingTable, 2, block), mad::status::ok);
  const auto again = get<mad::LftBlock>({1}, SmAttr::LinearForwardingTable, 2);
  ASSERT_TRUE(again);
  EXPECT_EQ(again->ports, block.ports);
  EXPECT_EQ(fabric->forwarding_table(node(0x100))[129], PortNum{1});
  const auto unwritten = get<mad::LftBlock>({1}, SmAttr::LinearForwardingTable, 700);
  ASSERT_TRUE(unwritten);
  EXPECT_EQ(unwritten->ports[0], no_path);
  EXPECT_EQ(set({1}, SmAttr::LinearForwardingTable, 768, block), mad::status::bad_field);
  EXPECT_EQ(set({}, SmAttr::LinearForwardingTable, 0, block), mad::status::bad_method_attribute);
}

TEST_F(AttributesTest, MulticastTableReadsBack) {
  mad::MftBlock block;
  block.masks[3] = 0x12;
  EXPECT_EQ(set({1}, SmAttr::MulticastForwardingTable, 1, block), mad::status::ok);
  EXPECT_EQ(get<mad::MftBlock>({1}, SmAttr::MulticastForwardingTable, 1)->masks, block.masks);
  EXPECT_EQ(set({1}, SmAttr::MulticastForwardingTable, 1U << 28U, block), mad::status::bad_field);
}

TEST_F(AttributesTest, SlToVlPerPortPair) {
  mad::SlToVlTable table;
  table.vl[5] = Vl{3};
  EXPECT_EQ(set({1}, SmAttr::SlToVlTable, 1U << 8U | 3U, table), mad::status::ok);
  EXPECT_EQ(get<mad::SlToVlTable>({1}, SmAttr::SlToVlTable, 1U << 8U | 3U)->vl, table.vl);
  EXPECT_EQ(fabric->vl(node(0x100), PortNum{1}, PortNum{3}, Sl{5}), Vl{3});
  EXPECT_EQ(fabric->vl(node(0x100), PortNum{2}, PortNum{3}, Sl{5}), Vl{5});
  EXPECT_EQ(set({}, SmAttr::SlToVlTable, 0, table), mad::status::ok);
  EXPECT_EQ(fabric->vl(node(0x10), PortNum{0}, PortNum{1}, Sl{5}), Vl{3});
}

TEST_F(AttributesTest, SlToVlForAllPortsAtOnce) {
  mad::SlToVlTable table;
  table.vl[5] = Vl{3};
  EXPECT_EQ(set({1}, SmAttr::SlToVlTable, 0x30000, table), mad::status::ok);
  EXPECT_EQ(fabric->vl(node(0x100), PortNum{8}, PortNum{7}, Sl{5}), Vl{3});
}

TEST_F(AttributesTest, ArbitrationTablesInFourBlocks) {
  mad::VlArbBlock block;
  block.entries[31] = {Vl{2}, 9};
  for (std::uint32_t number = 1; number <= 4; ++number) {
    EXPECT_EQ(set({1}, SmAttr::VlArbitration, number << 16U | 3U, block), mad::status::ok);
  }
  const auto tables = fabric->arbitration(port(0x100, 3));
  EXPECT_EQ(tables.low[63].vl, Vl{2});
  EXPECT_EQ(tables.high[31].weight, 9);
  EXPECT_EQ(get<mad::VlArbBlock>({1}, SmAttr::VlArbitration, 4U << 16U | 3U)->entries[31].weight, 9);
  EXPECT_EQ(set({1}, SmAttr::VlArbitration, 5U << 16U | 3U, block), mad::status::bad_field);
}

TEST_F(AttributesTest, PartitionKeysAndGuids) {
  EXPECT_EQ(get<mad::PKeyBlock>({}, SmAttr::PKeyTable)->keys[0], 0xffff);
  mad::PKeyBlock keys;
  keys.keys[1] = 0x8001;
  EXPECT_EQ(set({}, SmAttr::PKeyTable, 3, keys), mad::status::ok);
  EXPECT_EQ(get<mad::PKeyBlock>({}, SmAttr::PKeyTable, 3)->keys[1], 0x8001);
  EXPECT_EQ(set({}, SmAttr::PKeyTable, 4, keys), mad::status::bad_field);
  EXPECT_EQ(get<mad::GuidInfoBlock>({}, SmAttr::GuidInfo)->guids[0], 0x11U);
}

TEST_F(AttributesTest, WhatIsNotThereHasTheRightStatus) {
  const auto status_of = [&](const mad::Packet& packet) {
    const auto answer = ask(packet);
    return answer ? std::optional{mad::read_header(answer->mad).status} : std::nullopt;
  };
  EXPECT_EQ(status_of(directed({1}, Method::Get, SmAttr{0x7777})), mad::status::bad_method_attribute);
  EXPECT_EQ(status_of(directed({1}, Method{0x15}, SmAttr::NodeInfo)), mad::status::bad_method);
  EXPECT_EQ(status_of(directed({1}, Method::Set, SmAttr::NodeInfo)), mad::status::bad_method_attribute);
  EXPECT_EQ(status_of(directed({1}, Method::Get, SmAttr::SmInfo)), mad::status::bad_method_attribute);
  mad::Packet old = directed({1}, Method::Get, SmAttr::NodeInfo);
  old.mad[2] = 9;
  EXPECT_EQ(status_of(old), mad::status::bad_version);
}

}  // namespace
}  // namespace heddle::sim
