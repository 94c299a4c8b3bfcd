#include "authority/own/remembered_fabric.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "authority/own/up_down_keeper.h"
#include "fabric/generators.h"
#include "fabric/links.h"
#include "support/trunks.h"

namespace heddle::provision {
namespace {

class RememberedFabric : public testing::Test {
 protected:
  void SetUp() override {
    for (const LinkIndex link : test::trunk_links(*whole))
      cables.push_back({{link_ref(*whole, whole->link(link))}, "one", "other"});
    for (const Node& node : whole->nodes()) {
      if (node.type == NodeType::Switch)
        lids.emplace_back(PortRef{node.guid, PortNum{0}}, whole->port(node.first_port).lid);
    }
  }
  /// As a sweep finds it that these do not answer.
  [[nodiscard]] std::shared_ptr<const Fabric> without_switches(const std::vector<std::string>& silent) const {
    FabricBuilder builder;
    const auto is_silent = [&](const Node& node) {
      return std::ranges::find(silent, node.description) != silent.end();
    };
    for (const Node& node : whole->nodes()) {
      if (is_silent(node)) continue;
      const NodeIndex index = *builder.add_node(node);
      for (unsigned p = 0; p <= node.port_count; ++p)
        (void)builder.set_port(index, whole->port(PortIndex{node.first_port.raw() + p}));
    }
    for (const Link& link : whole->links()) {
      const Node& a = whole->node(link.a.node);
      const Node& b = whole->node(link.b.node);
      if (is_silent(a) || is_silent(b)) continue;
      (void)builder.add_link({builder.find_node(a.guid), link.a.port},
                             {builder.find_node(b.guid), link.b.port}, link.width, link.speed);
    }
    return builder.build();
  }
  [[nodiscard]] std::shared_ptr<const Fabric> without_cable(LinkIndex lost) const {
    FabricBuilder builder;
    for (const Node& node : whole->nodes()) (void)builder.add_node(node);
    for (std::uint32_t i = 0; i < whole->links().size(); ++i) {
      const Link& link = whole->link(LinkIndex{i});
      if (LinkIndex{i} != lost) (void)builder.add_link(link.a, link.b, link.width, link.speed);
    }
    return builder.build();
  }
  [[nodiscard]] NodeGuid guid(const std::string& name) const {
    return std::ranges::find(whole->nodes(), name, &Node::description)->guid;
  }

  std::shared_ptr<const Fabric> whole = assign_lids(**generate("torus:4x4,hosts=1,links=1"), 0).value();
  std::vector<SeenCable> cables;
  std::vector<PortLid> lids;
};

TEST_F(RememberedFabric, NothingIsAddedWhereAllIsThere) {
  EXPECT_EQ(with_remembered(whole, cables, lids), whole);
}

TEST_F(RememberedFabric, ASwitchHasItsPlaceItsCablesAndItsLid) {
  const auto seen = without_switches({"sw-1-1"});
  const auto all = with_remembered(seen, cables, lids);
  ASSERT_EQ(all->switch_count(), 16U);
  EXPECT_EQ(all->links().size(), whole->links().size() - 1) << "all but its host's";
  const Node& added = all->node(all->find_node(guid("sw-1-1")));
  EXPECT_EQ(all->port(added.first_port).lid,
            whole->port(LinkEnd{whole->find_node(added.guid), PortNum{0}}).lid);
  for (const Link& link : all->links()) {
    if (all->node(link.a.node).guid != added.guid && all->node(link.b.node).guid != added.guid) continue;
    EXPECT_FALSE(is_up(*all, link));
    // Its neighbours say what they said.
    const LinkEnd near = all->node(link.a.node).guid == added.guid ? link.b : link.a;
    EXPECT_EQ(all->port(near).state, PortState::Active);
  }
}

// Of a journal that somebody has written to: no tables could be made as long as the switch was away.
TEST_F(RememberedFabric, ALidThatNobodyCanHaveIsNotTaken) {
  for (auto& [port, lid] : lids) lid = Lid{0xffff};
  const auto all = with_remembered(without_switches({"sw-1-1"}), cables, lids);
  const Node& added = all->node(all->find_node(guid("sw-1-1")));
  EXPECT_EQ(all->port(added.first_port).lid, no_lid);
}

TEST_F(RememberedFabric, ACableThatIsOutHasItsPlace) {
  const auto lost = test::trunk_links(*whole).front();
  const auto all = with_remembered(without_cable(lost), cables, lids);
  ASSERT_EQ(all->links().size(), whole->links().size());
  const LinkIndex added = find_link(*all, link_ref(*whole, whole->link(lost)));
  ASSERT_NE(added, no_link);
  EXPECT_FALSE(is_up(*all, all->link(added)));
  EXPECT_EQ(all->link(added).width, whole->link(lost).width) << "as most of them";
  cables.front().known = {cables.front().known.link, LinkWidth::X1, LinkSpeed::Sdr};
  const auto known = with_remembered(without_cable(lost), cables, lids);
  EXPECT_EQ(known->link(find_link(*known, link_ref(*whole, whole->link(lost)))).width, LinkWidth::X1);
}

TEST_F(RememberedFabric, WhatIsBehindOneThatIsGoneIsAddedToo) {
  const auto all =
      with_remembered(without_switches({"sw-1-1", "sw-0-1", "sw-2-1", "sw-1-0", "sw-1-2"}), cables, lids);
  EXPECT_EQ(all->switch_count(), 16U);
}

TEST_F(RememberedFabric, NothingIsAddedWhereAnotherCableHasThePlace) {
  const auto seen = without_switches({"sw-1-1"});
  for (SeenCable& cable : cables) {
    for (PortRef* const end : {&cable.known.link.a, &cable.known.link.b})
      if (end->node == guid("sw-1-1")) end->node = NodeGuid{0x99};
  }
  // 0x99 was where sw-1-1 is now.
  EXPECT_EQ(with_remembered(whole, cables, lids), whole);
  // And where it is not there: neither the one nor the other is known to be joined to it.
  EXPECT_NE(with_remembered(seen, cables, lids)->find_node(NodeGuid{0x99}), no_node);
}

TEST_F(RememberedFabric, CablesOfAnotherFabricAreNotAdded) {
  for (SeenCable& cable : cables) {
    for (PortRef* const end : {&cable.known.link.a, &cable.known.link.b})
      end->node = NodeGuid{end->node.raw() + 0x1000};
  }
  const auto seen = without_switches({"sw-1-1"});
  EXPECT_EQ(with_remembered(seen, cables, lids), seen);
}

TEST_F(RememberedFabric, CablesThatCannotBeAreNotAdded) {
  const NodeGuid near = guid("sw-0-1");
  std::vector<SeenCable> odd;
  for (const PortNum port : {PortNum{0}, PortNum{255}}) {
    odd.push_back({{{{near, PortNum{2}}, {NodeGuid{0x99}, port}}}, "", ""});
    odd.push_back({{{{NodeGuid{0x99}, PortNum{1}}, {near, port}}}, "", ""});
  }
  const Node& host = *std::ranges::find(whole->nodes(), NodeType::ChannelAdapter, &Node::type);
  odd.push_back({{{{host.guid, PortNum{1}}, {NodeGuid{0x99}, PortNum{1}}}}, "", ""});
  const auto seen = without_switches({"sw-1-1"});
  EXPECT_EQ(with_remembered(seen, odd, lids), seen);
  // Two of one socket.
  odd = {cables.front(), cables.front()};
  const auto all = with_remembered(without_switches({"sw-0-0"}), odd, lids);
  EXPECT_LE(all->switch_count(), 16U);
}

// What a keeper makes of them.
TEST_F(RememberedFabric, AKeeperLeadsNobodyToASwitchThatItHasNotHeard) {
  UpDownKeeper before;
  ASSERT_TRUE(before.route(*whole));
  UpDownKeeper keeper;
  keeper.remember(authority::Remembered{before.ranks(), lids, cables});
  const auto seen = without_switches({"sw-1-1"});
  const auto routes = keeper.route(*seen);
  ASSERT_TRUE(routes) << routes.error().message;
  ASSERT_EQ(keeper.full()->switch_count(), 16U);
  EXPECT_THAT(keeper.mute(), testing::IsEmpty());
  EXPECT_EQ(routes->unheard.count(), 4U);
  EXPECT_EQ(keeper.up().count(), seen->links().size());
  const auto heard = keeper.route(*whole);
  ASSERT_TRUE(heard);
  EXPECT_EQ(heard->unheard.count(), 0U);
  EXPECT_EQ(keeper.up().count(), whole->links().size());
  EXPECT_EQ(keeper.ranks(), before.ranks());
  EXPECT_EQ(keeper.beginnings(), 2U) << "with its rates";
}

TEST_F(RememberedFabric, AKeeperOfAnotherFabricRemembersNothing) {
  std::vector<UpDownKeeper::Rank> ranks;
  for (std::uint64_t i = 0; i < 16; ++i) ranks.emplace_back(NodeGuid{0x9000 + i}, 1);
  UpDownKeeper keeper;
  keeper.remember(authority::Remembered{ranks, lids, cables});
  ASSERT_TRUE(keeper.route(*without_switches({"sw-1-1"})));
  EXPECT_EQ(keeper.full()->switch_count(), 15U);
}

}  // namespace
}  // namespace heddle::provision
