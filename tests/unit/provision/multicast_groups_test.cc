#include "authority/own/multicast_groups.h"

#include <gtest/gtest.h>

#include "fabric/generators.h"

namespace heddle::provision {
namespace {

constexpr Lid group{0xc005};

TEST(MulticastTable, BlocksHoldSixteenPortsOfThirtyTwoGroups) {
  MulticastTable table;
  table[Lid{0xc000}].set(3);
  table[Lid{0xc01f}].set(15).set(16);
  table[Lid{0xc020}].set(40);
  EXPECT_EQ(block_of(table, {0, 0}).masks[0], 1U << 3U);
  EXPECT_EQ(block_of(table, {0, 0}).masks[31], 1U << 15U);
  EXPECT_EQ(block_of(table, {0, 1}).masks[31], 1U);
  EXPECT_EQ(block_of(table, {1, 2}).masks[0], 1U << 8U);
  EXPECT_EQ((MftBlockRef{5, 2}.modifier()), 0x20000005U);
  MulticastTable copy;
  for (const std::uint16_t number : {0, 1}) {
    for (const std::uint8_t position : {0, 1, 2}) {
      put_block(copy, {number, position}, block_of(table, {number, position}));
    }
  }
  EXPECT_EQ(copy, table);
  put_block(copy, {0, 0}, {});
  EXPECT_FALSE(copy.contains(Lid{0xc000}));
  EXPECT_TRUE(copy.contains(Lid{0xc01f}));  // its port 16 is in another block
}

class GroupsTest : public ::testing::Test {
 protected:
  // Leaves and spines, each leaf with two hosts.
  std::shared_ptr<const Fabric> fabric_ = *assign_lids(**generate("xgft:2;2,3;1,2"));
  std::shared_ptr<const routing::UpDownRouter> router_ =
      std::make_shared<routing::UpDownRouter>(*routing::UpDownRouter::make(*fabric_));
  Routes routes_{router_->tables(), router_};

  void SetUp() override {
    routes_.in_all_planes = routing::LinkSet::all(*fabric_);
    routes_.may_be_used = routes_.in_all_planes;
  }
  [[nodiscard]] const routing::SwitchGraph& graph() const { return router_->graph(); }
  [[nodiscard]] std::vector<routing::SwitchIndex> leaves() const {
    std::vector<routing::SwitchIndex> all;
    for (std::uint32_t s = 0; s < graph().size(); ++s) {
      if (graph().hosts_at(routing::SwitchIndex{s}) > 0) all.emplace_back(s);
    }
    return all;
  }
  [[nodiscard]] PortNum host_port(routing::SwitchIndex leaf) const {
    for (const std::uint32_t t : graph().targets_at(leaf)) {
      if (graph().targets()[t].kind == routing::TargetKind::Host) return graph().targets()[t].out;
    }
    return PortNum{0};
  }
  [[nodiscard]] MulticastGroups::Wanted trees(const MulticastGroups& groups,
                                              const std::vector<MulticastTable>& tables) const {
    std::vector<const MulticastTable*> held;
    for (const MulticastTable& table : tables) held.push_back(&table);
    return groups.trees(routes_, held, [](Lid) { return false; });
  }
  /// All members on their own, no branches: what is left of a group when its links are taken away.
  std::vector<MulticastTable> members(MulticastGroups& groups) {
    std::vector<MulticastTable> tables(graph().size());
    for (const routing::SwitchIndex leaf : leaves()) {
      tables[leaf.raw()][group].set(host_port(leaf).raw());
      groups.learn(graph(), leaf, tables[leaf.raw()]);
    }
    return tables;
  }
};

TEST_F(GroupsTest, ATreeIsGrownOnceAndThenKept) {
  MulticastGroups groups;
  const auto found = members(groups);
  const auto wanted = trees(groups, found);
  EXPECT_NE(wanted.tables, found);
  EXPECT_EQ(wanted.unreached, 0U);
  for (const routing::SwitchIndex leaf : leaves()) {
    EXPECT_EQ(wanted.tables[leaf.raw()].at(group).count(), 2U);  // a host, and the way up
  }
  EXPECT_EQ(trees(groups, wanted.tables).tables, wanted.tables);
}

TEST_F(GroupsTest, OnlyWhatLosesALinkIsRerouted) {
  MulticastGroups groups;
  const auto tree = trees(groups, members(groups)).tables;
  const routing::SwitchIndex leaf = leaves().front();
  LinkIndex used = no_link;
  LinkIndex other = no_link;
  for (const routing::Hop& hop : graph().hops(leaf)) {
    (tree[leaf.raw()].at(group)[hop.out.raw()] ? used : other) = hop.link;
  }
  routes_.in_all_planes.erase(other);
  EXPECT_EQ(trees(groups, tree).tables, tree);
  routes_.in_all_planes.insert(other);
  routes_.in_all_planes.erase(used);
  const auto moved = trees(groups, tree);
  EXPECT_EQ(moved.unreached, 0U);
  EXPECT_NE(moved.tables, tree);
  // Nowhere else to go: over a link that one of the planes avoids.
  routes_.in_all_planes.erase(other);
  EXPECT_EQ(trees(groups, tree).unreached, 0U);
  routes_.may_be_used.erase(used);
  routes_.may_be_used.erase(other);
  const auto apart = trees(groups, tree);
  EXPECT_EQ(apart.unreached, 1U);
  EXPECT_TRUE(apart.tables[leaf.raw()].at(group)[host_port(leaf).raw()]);
}

TEST_F(GroupsTest, WhatIsSettledHasItsTurnWhenSomebodyJoinsOrAllHave) {
  MulticastGroups groups;
  const auto found = members(groups);
  const auto wanted = trees(groups, found).tables;
  groups.settle([](Lid) { return false; });
  EXPECT_EQ(trees(groups, found).tables, found) << "nobody looks at it";
  groups.unsettle();
  EXPECT_EQ(trees(groups, found).tables, wanted);
  groups.settle([](Lid) { return true; });
  EXPECT_EQ(trees(groups, found).tables, wanted) << "a group that was left is not settled";

  groups.settle([](Lid) { return false; });
  std::map<Lid, MulticastGroups::Joined> joined;
  joined[group].members.insert({graph().guid(leaves().front()), host_port(leaves().front())});
  groups.set_joined(joined);
  EXPECT_EQ(trees(groups, found).tables, wanted);
  groups.settle([](Lid) { return false; });
  groups.set_joined(joined);
  EXPECT_EQ(trees(groups, found).tables, found) << "the same again is nobody new";
  groups.learn(graph(), leaves().front(), found[leaves().front().raw()]);
  EXPECT_EQ(trees(groups, found).tables, wanted) << "a table was read";
}

TEST_F(GroupsTest, ASwitchWhereSomebodyMayOnlySendStaysInTheTree) {
  MulticastGroups groups;
  const auto at = leaves();
  std::vector<MulticastTable> tables(graph().size());
  tables[at[0].raw()][group].set(host_port(at[0]).raw());
  tables[at[1].raw()][group].set(graph().hops(at[1]).front().out.raw());
  for (const routing::SwitchIndex leaf : {at[0], at[1]}) groups.learn(graph(), leaf, tables[leaf.raw()]);
  const auto wanted = trees(groups, tables).tables;
  EXPECT_EQ(wanted[at[1].raw()].at(group).count(), 1U);
  EXPECT_FALSE(wanted[at[1].raw()].at(group)[host_port(at[1]).raw()]);
  EXPECT_FALSE(wanted[at[2].raw()].contains(group));
}

}  // namespace
}  // namespace heddle::provision
