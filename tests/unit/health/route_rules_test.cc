/// Tables that somebody else has written into, read back and refuted; and what is not to be refuted.
#include "health/route_rules.h"

#include <gmock/gmock.h>

#include "unit/health/health_world.h"

namespace heddle::health {
namespace {

using testing::HasSubstr;

/// Hosts far apart, and the ways between their switches.
class RefutedRoutes : public testing::Test {
 protected:
  [[nodiscard]] Lid lid_of(std::size_t host) {
    return world_.fabric().port_info(world_.truth().port_index(world_.host_end(host))).lid;
  }
  /// The switch at which a host is.
  [[nodiscard]] NodeIndex leaf_of(std::size_t host) {
    return world_.truth().peer(world_.host_end(host))->node;
  }
  /// A port of one switch that leads to the other.
  [[nodiscard]] PortNum towards(NodeIndex from, NodeIndex to) {
    for (unsigned p = 1; p <= world_.truth().node(from).port_count; ++p) {
      const PortNum port{static_cast<std::uint8_t>(p)};
      const auto peer = world_.truth().peer({from, port});
      if (peer && peer->node == to) return port;
    }
    return no_path;
  }
  [[nodiscard]] NodeGuid guid(NodeIndex node) { return world_.truth().node(node).guid; }

  HealthWorld world_{ring};
};

TEST_F(RefutedRoutes, WhatIsProvedIsNotTold) {
  world_.pass(5min);
  EXPECT_EQ(world_.count(Rule::RefutedRoutes), 0U);
}

TEST_F(RefutedRoutes, AnEntryThatIsMissing) {
  const NodeIndex leaf = leaf_of(7);
  world_.lead(leaf, lid_of(7), no_path);
  world_.pass(4min);
  const auto found = world_.findings(Rule::RefutedRoutes);
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].sureness, Sureness::Sure);
  EXPECT_EQ(found[0].at, (PortRef{guid(leaf), PortNum{0}}));
  EXPECT_THAT(found[0].what, HasSubstr("no entry leads on"));
  world_.lead(leaf, lid_of(7), world_.truth().peer(world_.host_end(7))->port);
  world_.pass(3min);
  EXPECT_EQ(world_.count(Rule::RefutedRoutes), 0U) << "it is mended";
}

TEST_F(RefutedRoutes, ALidThatIsLedOutOfAnothersPort) {
  const LinkEnd other = *world_.truth().peer(world_.host_end(6));
  world_.lead(leaf_of(7), lid_of(7), other.port);
  world_.pass(4min);
  const auto found = world_.findings(Rule::RefutedRoutes);
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].at, (PortRef{guid(leaf_of(7)), other.port}));
  EXPECT_THAT(found[0].what, HasSubstr("do not arrive by that"));
}

TEST_F(RefutedRoutes, ACircle) {
  const NodeIndex from = leaf_of(0);
  const NodeIndex last = leaf_of(7);
  for (std::size_t host = 1; host < 7; ++host) {
    const NodeIndex between = leaf_of(host);
    if (towards(from, between) == no_path || towards(between, last) == no_path || between == last) continue;
    world_.lead(from, lid_of(7), towards(from, between));
    world_.lead(between, lid_of(7), towards(between, from));
    break;
  }
  world_.pass(4min);
  const auto found = world_.findings(Rule::RefutedRoutes);
  ASSERT_FALSE(found.empty());
  EXPECT_THAT(found[0].what, HasSubstr("in a circle of 2 switches"));
  EXPECT_EQ(found[0].sureness, Sureness::Sure);
}

// Each leads to the neighbour on its left what is for the next but one: all arrive, and may wait for each
// other.
TEST_F(RefutedRoutes, ACircleOfBuffersIsLikelyOnly) {
  std::vector<NodeIndex> around{leaf_of(0)};
  for (std::size_t host = 1; around.size() < 4 && host < 32; ++host) {
    const NodeIndex next = leaf_of(host % 8);
    const bool is_new = std::ranges::find(around, next) == around.end();
    if (is_new && towards(around.back(), next) != no_path) around.push_back(next);
  }
  ASSERT_EQ(around.size(), 4U);
  for (std::size_t host = 0; host < 8; ++host) {
    const auto seat = std::ranges::find(around, leaf_of(host)) - around.begin();
    for (std::size_t back = 1; back < 3; ++back) {
      const NodeIndex from = around[(static_cast<std::size_t>(seat) + 4 - back) % 4];
      const NodeIndex next = around[(static_cast<std::size_t>(seat) + 5 - back) % 4];
      world_.lead(from, lid_of(host), towards(from, next));
    }
  }
  world_.pass(4min);
  const auto found = world_.findings(Rule::RefutedRoutes);
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].sureness, Sureness::Likely);
  EXPECT_THAT(found[0].what, HasSubstr("in a circle of 4 links"));
}

// Near misses.

TEST_F(RefutedRoutes, WhatIsWrongOnceOnlyIsAChangeUnderWay) {
  const NodeIndex leaf = leaf_of(7);
  const PortNum port = world_.truth().peer(world_.host_end(7))->port;
  world_.lead(leaf, lid_of(7), no_path);
  world_.pass(1min);
  world_.lead(leaf, lid_of(7), port);
  world_.pass(4min);
  EXPECT_EQ(world_.count(Rule::RefutedRoutes), 0U);
}

TEST_F(RefutedRoutes, AnotherWayThatArrivesIsAsGood) {
  const NodeIndex leaf = leaf_of(0);
  for (std::size_t host = 2; host < 8; ++host) {
    const PortNum now = world_.fabric().forwarding_table(leaf)[lid_of(host).raw()];
    const auto next = world_.truth().peer({leaf, now});
    if (!next || next->node != leaf_of(host)) continue;
    for (unsigned p = 1; p <= world_.truth().node(leaf).port_count; ++p) {
      const PortNum other{static_cast<std::uint8_t>(p)};
      const auto peer = world_.truth().peer({leaf, other});
      if (peer && peer->node == next->node && other != now) world_.lead(leaf, lid_of(host), other);
    }
  }
  world_.pass(4min);
  EXPECT_EQ(world_.count(Rule::RefutedRoutes), 0U);
}

TEST_F(RefutedRoutes, AHostThatIsGoneIsNoDeadEnd) {
  world_.cut(world_.host_link());
  world_.pass(4min);
  EXPECT_EQ(world_.count(Rule::RefutedRoutes), 0U);
}

}  // namespace
}  // namespace heddle::health
