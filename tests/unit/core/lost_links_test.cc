#include "core/lost_links.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "fabric/generators.h"

namespace heddle::core {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::StartsWith;

/// Two leaves, two spines, a cable from each leaf to each spine, and a host below each leaf: a sweep finds
/// all but what is left out.
class LostLinksTest : public testing::Test {
 protected:
  struct LeftOut {
    std::set<LinkRef> cables = {};
    std::set<NodeGuid> nodes = {};
    std::set<PortRef> disabled = {};
    std::vector<LinkRef> besides = {};  ///< cables that were not there before
  };

  void look(const LeftOut& out) {
    FabricBuilder builder;
    for (const Node& node : all_->nodes()) {
      if (out.nodes.contains(node.guid)) continue;
      ASSERT_TRUE(builder.add_node(node));
    }
    for (const PortRef& port : out.disabled) {
      Port disabled;
      disabled.num = port.port;
      disabled.physical = PhysState::Disabled;
      ASSERT_TRUE(builder.set_port(builder.find_node(port.node), disabled));
    }
    const auto add = [&](const LinkRef& cable) {
      const NodeIndex a = builder.find_node(cable.a.node);
      const NodeIndex b = builder.find_node(cable.b.node);
      if (a == no_node || b == no_node || out.cables.contains(cable)) return;
      ASSERT_TRUE(builder.add_link({a, cable.a.port}, {b, cable.b.port}, LinkWidth::X4, LinkSpeed::Edr));
    };
    for (const Link& link : all_->links()) add(link_ref(*all_, link));
    for (const LinkRef& cable : out.besides) add(cable);
    const auto seen = builder.build();
    lost_.look(seen, std::make_shared<const ShownNames>(NodeNames{}, *seen));
  }
  [[nodiscard]] std::vector<std::string> problems() const {
    std::vector<std::string> texts;
    for (const Problem& problem : lost_.problems()) {
      EXPECT_EQ(problem.kind, ProblemKind::LostLinks);
      texts.push_back(problem.text);
    }
    return texts;
  }
  [[nodiscard]] NodeGuid guid(std::string_view name) const {
    for (const Node& node : all_->nodes()) {
      if (node.description == name) return node.guid;
    }
    ADD_FAILURE() << "no node is called " << name;
    return {};
  }
  [[nodiscard]] LinkRef cable(std::string_view one, std::string_view other) const {
    for (const Link& link : all_->links()) {
      const LinkRef ref = link_ref(*all_, link);
      const std::set<NodeGuid> ends{ref.a.node, ref.b.node};
      if (ends == std::set<NodeGuid>{guid(one), guid(other)}) return ref;
    }
    ADD_FAILURE() << "no cable joins " << one << " and " << other;
    return {};
  }

  std::shared_ptr<const Fabric> all_ = generate("tree:k=2,n=2").value();
  LostLinks lost_;
};

TEST_F(LostLinksTest, WhatWasNotThereAtTheStartIsNotMissed) {
  look({.cables = {cable("leaf-0", "spine-1")}, .nodes = {guid("spine-0")}});
  EXPECT_THAT(problems(), IsEmpty());
}

TEST_F(LostLinksTest, ACableIsMissedUntilItIsBack) {
  look({});
  look({.cables = {cable("leaf-0", "spine-1")}});
  EXPECT_THAT(problems(),
              ElementsAre(StartsWith("1 link is down, and nobody ordered it: leaf-0/4 -- spine-1/1: see")));
  look({.cables = {cable("leaf-0", "spine-1"), cable("leaf-1", "spine-1")}});
  EXPECT_THAT(problems(),
              ElementsAre(StartsWith("2 links are down, and nobody ordered it: leaf-0/4 -- spine-1/1, "
                                     "leaf-1/4 -- spine-1/2: see")));
  look({});
  EXPECT_THAT(problems(), IsEmpty());
}

TEST_F(LostLinksTest, HostsComeAndGo) {
  look({});
  look({.cables = {cable("leaf-0", "host-0 mlx5_0")}, .nodes = {guid("host-1 mlx5_0")}});
  EXPECT_THAT(problems(), IsEmpty());
}

TEST_F(LostLinksTest, ADisabledPortIsSomebodysOrder) {
  const LinkRef off = cable("leaf-0", "spine-1");
  look({});
  look({.cables = {off}, .disabled = {off.b}});
  EXPECT_THAT(problems(), IsEmpty());
  look({.cables = {off}});
  EXPECT_THAT(problems(),
              ElementsAre(StartsWith("1 link is down, and nobody ordered it: leaf-0/4 -- spine-1/1: see")))
      << "enabled, and it has not come back";
}

TEST_F(LostLinksTest, CablesOfASwitchThatIsGoneCountWithIt) {
  look({});
  look({.nodes = {guid("spine-1")}});
  EXPECT_THAT(problems(), ElementsAre(StartsWith("1 switch is gone: spine-1: see")));
  look({.cables = {cable("leaf-0", "spine-1")}});
  EXPECT_THAT(problems(),
              ElementsAre(StartsWith("1 link is down, and nobody ordered it: leaf-0/4 -- spine-1/1: see")))
      << "it is back without one of them";
}

TEST_F(LostLinksTest, ACableThatHasBeenMovedIsNotMissed) {
  const LinkRef cable_of_0 = cable("leaf-0", "spine-1");
  const LinkRef cable_of_1 = cable("leaf-1", "spine-1");
  look({});
  look({.cables = {cable_of_0, cable_of_1},
        .besides = {{std::min(cable_of_0.a, cable_of_1.b), std::max(cable_of_0.a, cable_of_1.b)}}});
  EXPECT_THAT(problems(), IsEmpty());
}

}  // namespace
}  // namespace heddle::core
