#include "regulate/drain_target.h"

#include <gmock/gmock.h>

#include "fabric/generators.h"
#include "support/rebuilt.h"

namespace heddle::regulate {
namespace {

using ::testing::HasSubstr;
using ::testing::SizeIs;

/// Two hosts at each of three leaves; spine-0 and spine-1 are one chassis.
std::shared_ptr<const Fabric> with_chassis() {
  return test::rebuilt(**generate("xgft:2;2,3;1,3"), [](Node& node) {
    if (node.description == "spine-0" || node.description == "spine-1") node.system_image_guid = 0x77;
  });
}

class DrainTarget : public ::testing::Test {
 protected:
  [[nodiscard]] Result<regulation::Drain> find(const std::vector<std::string>& names,
                                               Whole whole = Whole::Named) const {
    return drain_target(fabric_, names, whole);
  }
  std::shared_ptr<const Fabric> fabric_ = with_chassis();
};

TEST_F(DrainTarget, OfASwitchAreItsCablesToSwitchesThatStay) {
  const auto spine = find({"spine-2"});
  ASSERT_TRUE(spine) << spine.error().message;
  EXPECT_EQ(spine->what, "spine-2");
  EXPECT_THAT(spine->links, SizeIs(3));
  EXPECT_THAT(spine->nodes, SizeIs(1));
  EXPECT_THAT(find({"leaf-0"})->links, SizeIs(3)) << "its hosts' cables stay";
  const auto both = find({"spine-2", "leaf-0", "spine-2"});
  EXPECT_EQ(both->what, "spine-2, leaf-0");
  EXPECT_THAT(both->links, SizeIs(4)) << "the one between them need not go off";
}

TEST_F(DrainTarget, OfAHostAndOfALinkAreCables) {
  const auto host = find({"host-3 mlx5_0"});
  ASSERT_TRUE(host) << host.error().message;
  EXPECT_THAT(host->links, SizeIs(1));
  EXPECT_THAT(host->nodes, SizeIs(0));
  const auto link = find({"leaf-0/3"});
  ASSERT_TRUE(link) << link.error().message;
  EXPECT_EQ(link->what, "leaf-0/3 -- spine-0/1");
  EXPECT_THAT(link->links, SizeIs(1));
}

TEST_F(DrainTarget, OfAChassisAreAllItsSwitches) {
  const auto chassis = find({"spine-1"}, Whole::Chassis);
  ASSERT_TRUE(chassis) << chassis.error().message;
  EXPECT_EQ(chassis->what, "chassis of spine-1");
  EXPECT_THAT(chassis->links, SizeIs(6));
  EXPECT_THAT(chassis->nodes, SizeIs(2));
  EXPECT_FALSE(find({"host-3 mlx5_0"}, Whole::Chassis));
  EXPECT_FALSE(find({"leaf-0/3"}, Whole::Chassis));
}

// Half of a director: some of its boards.
TEST_F(DrainTarget, OfAPatternAreAllSwitchesThatFit) {
  const auto half = find({"spine-[12]"});
  ASSERT_TRUE(half) << half.error().message;
  EXPECT_EQ(half->what, "spine-[12]");
  EXPECT_THAT(half->nodes, SizeIs(2));
  EXPECT_EQ(half->links, find({"spine-1", "spine-2"})->links);
  EXPECT_THAT(find({"spine-*", "leaf-0"})->nodes, SizeIs(4));
  EXPECT_FALSE(find({"*"})) << "no cable leads to what stays";
  const auto none = find({"spine-[89]"});
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().code, ErrorCode::NotFound);
  EXPECT_THAT(none.error().message, HasSubstr("no switch's name fits the pattern 'spine-[89]'"));
  EXPECT_FALSE(find({"host-*"})) << "hosts are not taken by the dozen";
}

TEST_F(DrainTarget, WhatIsNotThereIsSaid) {
  const auto wrong = find({"spine-9"});
  ASSERT_FALSE(wrong);
  EXPECT_EQ(wrong.error().code, ErrorCode::NotFound);
  EXPECT_FALSE(find({"spine-0/99"}));
}

class DrainNamed : public DrainTarget {
 protected:
  [[nodiscard]] std::vector<regulation::DrainStatus> standing(
      const std::vector<std::vector<std::string>>& drains) const {
    std::vector<regulation::DrainStatus> all;
    for (const auto& names : drains) all.push_back({*find(names)});
    return all;
  }
};

TEST_F(DrainNamed, ByItsNameItsSwitchOrAsTheOnlyOne) {
  const auto one = standing({{"spine-2"}});
  EXPECT_EQ(drain_named(one, fabric_, {}), "spine-2");
  EXPECT_EQ(drain_named(one, fabric_, {"spine-2"}), "spine-2");
  EXPECT_EQ(drain_named(one, fabric_, {to_string(one.front().drain.nodes.front())}), "spine-2");
  const auto two = standing({{"spine-2"}, {"leaf-0/3"}});
  EXPECT_EQ(drain_named(two, fabric_, {"spine-0/1"}), "leaf-0/3 -- spine-0/1");
  const auto which = drain_named(two, fabric_, {});
  ASSERT_FALSE(which);
  EXPECT_THAT(which.error().message, HasSubstr("spine-2; leaf-0/3 -- spine-0/1"));
  EXPECT_FALSE(drain_named(two, fabric_, {"leaf-1"}));
  EXPECT_FALSE(drain_named({}, fabric_, {}));
}

// It was pulled, and the daemon started anew: no sweep has seen it.
TEST_F(DrainNamed, AlsoWhenTheSwitchIsGone) {
  const auto drains = standing({{"spine-2"}, {"leaf-0/3"}});
  const auto without = *generate("xgft:2;2,3;1,2");
  EXPECT_EQ(drain_named(drains, without, {"spine-2"}), "spine-2");
  EXPECT_EQ(drain_named(drains, without, {to_string(drains.front().drain.nodes.front())}), "spine-2");
}

}  // namespace
}  // namespace heddle::regulate
