#include "routing/multicast.h"

#include <gmock/gmock.h>
#include <rapidcheck/gtest.h>

#include <deque>
#include <map>
#include <set>

#include "base/random.h"
#include "fabric/generators.h"
#include "routing/updn.h"

namespace heddle::routing {
namespace {

struct World {
  explicit World(const std::string& spec)
      : fabric{*assign_lids(**generate(spec))},
        router{UpDownRouter::make(*fabric).value()},
        permitted{LinkSet::all(*fabric)} {}

  [[nodiscard]] std::vector<MulticastMember> members(std::size_t every) const {
    std::vector<MulticastMember> result;
    std::size_t number = 0;
    for (const Target& target : router.graph().targets()) {
      if (target.kind == TargetKind::Host && number++ % every == 0) {
        result.push_back({target.at, target.out});
      }
    }
    return result;
  }

  std::shared_ptr<const Fabric> fabric;
  UpDownRouter router;
  LinkSet permitted;
};

/// Sends a packet from each member's switch: every member gets it once, none of the links is forbidden.
void expect_delivered(const World& world, const std::vector<MulticastMember>& members,
                      const MulticastTree& tree) {
  const auto& graph = world.router.graph();
  std::map<SwitchIndex, std::set<PortNum>> out;
  for (const auto& port : tree.ports) out[port.sw].insert(port.port);
  for (const MulticastMember& from : members) {
    std::multiset<MulticastTree::Port> delivered;
    std::deque<std::pair<SwitchIndex, PortNum>> queue{{from.at, from.out}};
    std::size_t copies = 0;
    while (!queue.empty()) {
      const auto [s, in] = queue.front();
      queue.pop_front();
      ASSERT_LE(++copies, graph.size()) << "a circle";
      for (const PortNum port : out[s]) {
        if (port == in) continue;
        const auto hops = graph.hops(s);
        const auto hop = std::find_if(hops.begin(), hops.end(), [&](const auto& h) { return h.out == port; });
        if (hop == hops.end()) {
          delivered.insert({s, port});
          continue;
        }
        ASSERT_TRUE(world.permitted.contains(hop->link));
        queue.emplace_back(hop->peer, hop->in);
      }
    }
    for (const MulticastMember& to : members) {
      const bool self = to.at == from.at && to.out == from.out;
      ASSERT_EQ(delivered.count({to.at, to.out}), self ? 0U : 1U);
    }
  }
}

/// Some switch from which all of them are reached going down, over any links.
bool any_switch_is_above(const World& world, const std::vector<MulticastMember>& members) {
  const auto size = static_cast<std::uint32_t>(world.router.graph().size());
  for (std::uint32_t s = 0; s < size; ++s) {
    if (std::all_of(members.begin(), members.end(), [&](const MulticastMember& member) {
          return world.router.full_paths().down(SwitchIndex{s}, member.at) != LegalPaths::far;
        }))
      return true;
  }
  return false;
}

class MulticastShapes : public testing::TestWithParam<const char*> {};

TEST_P(MulticastShapes, EveryMemberGetsEveryPacketOnce) {
  const World world(GetParam());
  for (const std::size_t every : {1U, 3U, 7U}) {
    const auto members = world.members(every);
    const auto tree = grow_tree(world.router.graph(), world.router.ranks(), world.permitted, members, 0xc001);
    EXPECT_EQ(tree.in_order, any_switch_is_above(world, members));
    EXPECT_EQ(tree.unreached, 0U);
    expect_delivered(world, members, tree);
  }
}

INSTANTIATE_TEST_SUITE_P(All, MulticastShapes,
                         testing::Values("tree:k=3,n=3", "torus:4x4,hosts=2,links=2",
                                         "random:switches=12,hosts=20,links=26,ports=12,seed=7"));

TEST(Multicast, MembersOfOneSwitchNeedNoBranch) {
  const World world("tree:k=3,n=2");
  const auto& first = world.router.graph().targets()[0];
  const std::vector<MulticastMember> members{{first.at, PortNum{1}}, {first.at, PortNum{2}}};
  const auto tree = grow_tree(world.router.graph(), world.router.ranks(), world.permitted, members, 5);
  EXPECT_TRUE(tree.links.empty());
  EXPECT_EQ(tree.ports.size(), 2U);
}

TEST(Multicast, GroupsAreSpreadOverTheRoots) {
  const World world("tree:k=3,n=2");
  std::set<std::vector<LinkIndex>> trees;
  for (std::uint32_t turn = 0; turn < 9; ++turn) {
    trees.insert(
        grow_tree(world.router.graph(), world.router.ranks(), world.permitted, world.members(1), turn).links);
  }
  EXPECT_GE(trees.size(), 3U);
}

TEST(Multicast, ReachesAllWhereNoSwitchIsAboveAll) {
  // Three leaves, three spines, each leaf without the link to another spine: every two have a spine in
  // common.
  World world("tree:k=3,n=2");
  const auto& graph = world.router.graph();
  std::uint32_t leaf = 0;
  for (std::uint32_t s = 0; s < graph.size(); ++s) {
    if (graph.hosts_at(SwitchIndex{s}) == 0) continue;
    world.permitted.erase(graph.hops(SwitchIndex{s})[leaf++].link);
  }
  const auto members = world.members(1);
  const auto tree = grow_tree(graph, world.router.ranks(), world.permitted, world.members(1), 1);
  EXPECT_FALSE(tree.in_order);
  EXPECT_EQ(tree.unreached, 0U);
  expect_delivered(world, members, tree);
}

TEST(Multicast, WhatCannotBeReachedIsCounted) {
  World world("tree:k=3,n=2");
  world.permitted = LinkSet::none(*world.fabric);
  const auto members = world.members(1);
  const auto tree = grow_tree(world.router.graph(), world.router.ranks(), world.permitted, members, 1);
  EXPECT_GT(tree.unreached, 0U);
  EXPECT_TRUE(tree.links.empty());
}

RC_GTEST_PROP(MulticastProperty, OverAnyLinksThatConnectThem, ()) {
  World world("torus:4x4,hosts=1,links=2");
  Random random(*rc::gen::arbitrary<std::uint64_t>());
  for (std::uint32_t i = 0; i < world.fabric->links().size(); ++i) {
    if (random.below(100) < 20) world.permitted.erase(LinkIndex{i});
  }
  const auto members = world.members(2);
  const auto tree = grow_tree(world.router.graph(), world.router.ranks(), world.permitted, members,
                              static_cast<std::uint32_t>(random.below(1000)));
  if (tree.unreached == 0) expect_delivered(world, members, tree);
  RC_CLASSIFY(tree.unreached == 0);
}

}  // namespace
}  // namespace heddle::routing
