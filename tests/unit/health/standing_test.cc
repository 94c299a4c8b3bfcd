// What runs slower than it can, and what is there twice.
#include "health/standing.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "unit/health/health_world.h"

namespace heddle::health {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;

TEST(HealthStanding, ALinkThatLostLanes) {
  HealthWorld world{ring};
  const LinkIndex link = world.trunk_link();
  world.fabric().limit(link, {.width = LinkWidth::X1}, world.ps());
  world.pass(1min);
  const auto found = world.findings(Rule::LinkWidth);
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].sureness, Sureness::Sure);
  EXPECT_EQ(found[0].at, world.truth().ref(world.truth().link(link).a));
  EXPECT_EQ(found[0].what, "runs at 1x, and both ends have 4x enabled");
  EXPECT_EQ(world.count(Rule::TrunkRate), 0U) << "told already";
}

TEST(HealthStanding, ALinkThatIsSlowerThanItsEnds) {
  HealthWorld world{ring};
  world.fabric().limit(world.host_link(), {.speed = LinkSpeed::Qdr}, world.ps());
  world.pass(1min);
  const auto found = world.findings(Rule::LinkSpeed);
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].what, "runs at QDR, and both ends have HDR enabled");
}

TEST(HealthStanding, ACableThatCarriesAllThatThePortsCan) {
  HealthWorld world{ring};
  world.fabric().limit(world.host_link(), {.width = LinkWidth::X4, .speed = LinkSpeed::Hdr}, world.ps());
  world.fabric().limit(world.trunk_link(), {.width = LinkWidth::X12, .speed = LinkSpeed::Xdr}, world.ps());
  world.pass(5min);
  EXPECT_EQ(world.count(Rule::LinkWidth), 0U);
  EXPECT_EQ(world.count(Rule::LinkSpeed), 0U);
}

/// Two switches with three links between them, and PortInfos that go with it.
struct Pair {
  Pair() {
    for (const std::uint64_t guid : {1, 2}) {
      Node node;
      node.guid = NodeGuid{guid};
      node.type = NodeType::Switch;
      node.port_count = 4;
      node.description = guid == 1 ? "left" : "right";
      nodes.push_back(*builder.add_node(node));
    }
  }
  void join(unsigned port, LinkWidth width, LinkSpeed speed) {
    const PortNum num{static_cast<std::uint8_t>(port)};
    ASSERT_TRUE(builder.add_link({nodes[0], num}, {nodes[1], num}, width, speed));
  }
  /// Whatever runs is what is enabled and supported.
  Survey survey() {
    Survey made;
    made.fabric = builder.build();
    for (const Node& node : made.fabric->nodes()) {
      SurveyNode known;
      known.info.type = node.type;
      known.info.node_guid = node.guid;
      known.description = node.description;
      for (unsigned p = 0; p <= node.port_count; ++p) {
        const Port& port = made.fabric->port(PortIndex{node.first_port.raw() + p});
        SurveyPort each;
        each.known = true;
        if (port.link != no_link) {
          const Link& link = made.fabric->link(port.link);
          each.speed = link.speed;
          mad::set_width(link.width, each.info);
          mad::set_speed(link.speed, each.info);
        }
        known.ports.push_back(each);
      }
      made.nodes.push_back(std::move(known));
    }
    return made;
  }
  FabricBuilder builder;
  std::vector<NodeIndex> nodes;
};

TEST(HealthStanding, SlowerThanOthersBetweenTheSameSwitches) {
  for (const LinkSpeed third : {LinkSpeed::Edr, LinkSpeed::Fdr}) {
    Pair pair;
    pair.join(1, LinkWidth::X4, LinkSpeed::Edr);
    pair.join(2, LinkWidth::X4, LinkSpeed::Edr);
    pair.join(3, LinkWidth::X4, third);
    const auto found = judge_standing(pair.survey(), {});
    if (third == LinkSpeed::Edr) {
      EXPECT_THAT(found, IsEmpty());
      continue;
    }
    ASSERT_EQ(found.size(), 1U);
    EXPECT_EQ(found[0].rule, Rule::TrunkRate);
    EXPECT_EQ(found[0].at, (PortRef{NodeGuid{1}, PortNum{3}}));
    EXPECT_THAT(found[0].what, HasSubstr("54.6 Gbit/s, and others of the 3 links"));
  }
}

TEST(HealthStanding, WhatAnEndAllowsIsItsDoing) {
  Pair pair;
  pair.join(1, LinkWidth::X1, LinkSpeed::Qdr);
  Survey survey = pair.survey();
  for (SurveyNode& node : survey.nodes) {
    node.ports[1].info.link_width_supported = 3;
    node.ports[1].info.link_speed_ext_supported = 3;
  }
  survey.nodes[0].ports[1].info.link_width_enabled = 1;
  survey.nodes[1].ports[1].info.link_width_enabled = 255;  // all that is supported
  survey.nodes[1].ports[1].info.link_speed_ext_enabled = 31;
  survey.nodes[0].ports[1].info.link_speed_ext_enabled = 30;  // none
  const auto found = judge_standing(survey, {});
  ASSERT_EQ(found.size(), 2U);
  EXPECT_EQ(found[0].what, "is allowed 1x only (LinkWidthEnabled), and both ends can do 4x");
  EXPECT_EQ(found[0].sureness, Sureness::Likely);
  EXPECT_EQ(found[0].blame, (PortRef{NodeGuid{1}, PortNum{1}}));
  EXPECT_EQ(found[1].what, "is allowed QDR only (LinkSpeedEnabled), and both ends can do EDR");
  EXPECT_EQ(found[1].blame, (PortRef{NodeGuid{1}, PortNum{1}}));
  const Link& link = survey.fabric->links()[0];
  EXPECT_THAT(judge_standing(survey, {link_ref(*survey.fabric, link)}), IsEmpty()) << "the regulation's";
}

TEST(HealthStanding, ASpeedThatAnEndHidesIsNotCompared) {
  Pair pair;
  pair.join(1, LinkWidth::X4, LinkSpeed::Sdr);
  Survey survey = pair.survey();
  for (SurveyNode& node : survey.nodes) {
    node.ports[1].info.link_speed_supported = node.ports[1].info.link_speed_enabled = 7;
  }
  ASSERT_EQ(judge_standing(survey, {}).size(), 1U);
  survey.nodes[0].ports[0].info.capability_mask = mad::port_cap::extended_speeds;
  EXPECT_THAT(judge_standing(survey, {}), IsEmpty());
}

TEST(HealthStanding, TwoNodesWithOneName) {
  for (const std::uint64_t system : {0, 7}) {
    FabricBuilder builder;
    for (const std::uint64_t guid : {1, 2}) {
      Node node;
      node.guid = NodeGuid{guid};
      node.type = NodeType::Switch;
      node.port_count = 4;
      node.system_image_guid = system;
      node.description = "leaf";
      ASSERT_TRUE(builder.add_node(node));
    }
    Survey survey;
    survey.fabric = builder.build();
    const auto found = judge_standing(survey, {});
    if (system != 0) {
      EXPECT_THAT(found, IsEmpty()) << "chips of one housing";
      continue;
    }
    ASSERT_EQ(found.size(), 1U);
    EXPECT_EQ(found[0].rule, Rule::DuplicateDescription);
    EXPECT_EQ(found[0].what, "2 nodes are called \"leaf\": 0x0000000000000001, 0x0000000000000002");
  }
}

TEST(HealthStanding, WhatASweepMetTwice) {
  HealthWorld world{ring};
  const PortRef at = world.truth().ref(world.end(world.host_link()));
  const auto told = [&](std::vector<Duplicate> duplicates) {
    world.judge().on_survey(world.survey(), std::move(duplicates), world.now());
    return world.findings(Rule::DuplicateLid);
  };
  const auto found = told({{Rule::DuplicateLid, at, "x and y both have LID 7"}});
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].sureness, Sureness::Sure);
  EXPECT_EQ(found[0].at, at);
  EXPECT_EQ(found[0].what, "x and y both have LID 7");
  EXPECT_THAT(told({}), IsEmpty()) << "the next sweep did not";
}

}  // namespace
}  // namespace heddle::health
