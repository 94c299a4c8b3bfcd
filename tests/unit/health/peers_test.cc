// What differs from its peers.
#include "health/peers.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "unit/health/health_world.h"

namespace heddle::health {
namespace {

/// Six hosts at each of two switches.
constexpr std::string_view two_leaves = "torus:2x1,hosts=6,links=2,speed=HDR";

/// A host is switched off, and another one comes up in its place.
void replace(HealthWorld& world, LinkIndex link, const sim::Device& device) {
  const Link& cable = world.truth().link(link);
  const NodeIndex host =
      world.truth().node(cable.a.node).type == NodeType::ChannelAdapter ? cable.a.node : cable.b.node;
  world.fabric().kill(host, world.ps());
  world.pass(2min);
  world.fabric().set_device(host, device);
  world.fabric().revive(host, world.ps());
  world.pass(2min);
}

TEST(HealthPeers, AnAdapterOfAnotherRevision) {
  HealthWorld world{two_leaves};
  EXPECT_EQ(world.count(), 0U);
  replace(world, world.host_link(), {.revision = 0xa1});
  const auto found = world.findings(Rule::OddDevice);
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].sureness, Sureness::Likely);
  EXPECT_EQ(found[0].at.port, PortNum{0});
  EXPECT_EQ(found[0].blame, found[0].at);
  EXPECT_THAT(found[0].what, testing::HasSubstr("is revision 0xa1 of device 0x101b, and 11 of 12 are 0xa0"));
  replace(world, world.host_link(), {});
  EXPECT_EQ(world.count(Rule::OddDevice), 0U);
}

TEST(HealthPeers, AnAdapterOfAnotherKindAmongThoseAtItsSwitch) {
  HealthWorld world{two_leaves};
  replace(world, world.host_link(), {.id = 0x1003, .revision = 0xa1});
  const auto found = world.findings(Rule::OddDevice);
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].what, "is a device 0x1003, and 5 of the 6 adapters at its switch are 0x101b");
}

// A fabric of two kinds is one by intent.
TEST(HealthPeers, WhereSeveralDifferNoneIsOdd) {
  HealthWorld world{two_leaves};
  std::size_t changed = 0;
  for (std::uint32_t i = 1; i < world.truth().links().size() && changed < 2; ++i) {
    const Link& link = world.truth().links()[i];
    if (world.truth().node(link.a.node).type == world.truth().node(link.b.node).type) continue;
    if (link.b.node == world.truth().links()[0].b.node) continue;
    replace(world, LinkIndex{i}, {.id = 0x1003});
    ++changed;
  }
  EXPECT_EQ(changed, 2U);
  EXPECT_EQ(world.count(Rule::OddDevice), 0U);
}

TEST(HealthPeers, AnAdapterWithOlderFirmware) {
  HealthWorld world{two_leaves};
  replace(world, world.host_link(), {.firmware = {27, 2008, 1000, "HDL0000000001"}});
  const auto found = world.findings(Rule::OddDevice);
  ASSERT_EQ(found.size(), 1U);
  EXPECT_THAT(found[0].what, testing::HasSubstr("runs firmware 27.2008.1000, and "));
  EXPECT_THAT(found[0].what, testing::HasSubstr("boards HDL0000000001 run 27.2012.4036"));
  replace(world, world.host_link(), {});
  EXPECT_EQ(world.count(Rule::OddDevice), 0U);
}

// Each kind of board has firmware of its own.
TEST(HealthPeers, AnotherBoardMayRunOtherFirmware) {
  HealthWorld world{two_leaves};
  replace(world, world.host_link(), {.firmware = {20, 35, 2000, "MT_0000000223"}});
  EXPECT_EQ(world.count(Rule::OddDevice), 0U);
}

TEST(HealthPeers, WhoDoesNotSayWhatItRunsIsNotJudged) {
  sim::Options options;
  options.traits.general_info = false;
  HealthWorld world{two_leaves, options};
  replace(world, world.host_link(), {.firmware = {27, 2008, 1000, "HDL0000000001"}});
  EXPECT_EQ(world.count(Rule::OddDevice), 0U);
}

TEST(HealthPeers, OfFourNoneIsOdd) {
  HealthWorld world{"torus:2x1,hosts=2,links=2,speed=HDR"};
  replace(world, world.host_link(), {.id = 0x1003, .revision = 0xa1});
  EXPECT_EQ(world.count(Rule::OddDevice), 0U);
}

}  // namespace
}  // namespace heddle::health
