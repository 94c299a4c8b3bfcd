// Which news of a fabric can wait for more of it.

#include <gtest/gtest.h>

#include "authority/own/survey_change.h"
#include "provision_world.h"

namespace heddle::provision {
namespace {

class OnlyGains : public ::testing::Test {
 protected:
  void SetUp() override {
    ASSERT_FALSE(world_.bring_up().failure);
    before_ = *world_.bring_up().survey;
    after_ = before_;
    const Fabric& fabric = *before_.fabric;
    for (const Link& link : fabric.links()) {
      if (link.a.node != before_.local && link.b.node != before_.local) end_ = link.a;
    }
  }
  static SurveyPort& port(Survey& survey, LinkEnd end) {
    return survey.nodes[end.node.raw()].ports[end.port.raw()];
  }

  [[nodiscard]] bool is_gain(const Survey& before, const Survey& after) const {
    const Fabric& fabric = *before.fabric;
    return only_gains(before, after, [&](const LinkRef& link) {
      return link == link_ref(fabric, fabric.link(fabric.port(end_).link));
    });
  }

  World world_{"torus:3,hosts=1,links=1"};
  Survey before_;
  Survey after_;
  LinkEnd end_;  ///< of the link that is waited for
};

TEST_F(OnlyGains, NothingIsNone) { EXPECT_FALSE(is_gain(before_, after_)); }

TEST_F(OnlyGains, APortThatComesUpIsOne) {
  port(before_, end_).info.state = PortState::Down;
  for (const PortState state : {PortState::Init, PortState::Armed, PortState::Active}) {
    port(after_, end_).info.state = state;
    EXPECT_TRUE(is_gain(before_, after_));
    EXPECT_FALSE(is_gain(after_, before_));
  }
}

TEST_F(OnlyGains, OneThatFallsBesideAnotherThatComesUpIsNot) {
  LinkEnd other = *before_.fabric->peer(end_);
  port(before_, end_).info.state = PortState::Down;
  for (const PortState state : {PortState::Down, PortState::Init, PortState::Armed}) {
    port(after_, other).info.state = state;
    EXPECT_FALSE(is_gain(before_, after_));
  }
}

TEST_F(OnlyGains, AnotherLidIsNot) {
  port(before_, end_).info.state = PortState::Down;
  port(after_, before_.own_port()).info.lid = Lid{77};
  EXPECT_FALSE(is_gain(before_, after_));
}

TEST_F(OnlyGains, APortThatDoesNotAnswerAnyMoreIsNot) {
  port(before_, end_).info.state = PortState::Down;
  port(after_, before_.own_port()).known = false;
  EXPECT_FALSE(is_gain(before_, after_));
}

TEST_F(OnlyGains, OneOfALinkThatNobodyWaitsForIsNot) {
  for (const Link& link : before_.fabric->links()) {
    if (link.a == end_) continue;
    Survey before = before_;
    port(before, link.a).info.state = PortState::Down;
    EXPECT_FALSE(is_gain(before, after_));
  }
}

TEST_F(OnlyGains, ANodeThatJoinsOrIsGoneIsNot) {
  const auto host = std::ranges::find_if(world_.truth().nodes(), [&](const Node& node) {
    return node.type != NodeType::Switch && node.guid != before_.node(before_.local).guid();
  });
  world_.sim.fabric.kill(world_.truth().find_node(host->guid), world_.sim.ps());
  ASSERT_FALSE(world_.bring_up().failure);
  const Survey less = *world_.bring_up().survey;
  ASSERT_EQ(less.nodes.size() + 1, after_.nodes.size());
  EXPECT_FALSE(is_gain(after_, less));
  EXPECT_FALSE(is_gain(less, after_));
}

}  // namespace
}  // namespace heddle::provision
