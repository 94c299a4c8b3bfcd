#include "power/power_model.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "fabric/generators.h"

namespace heddle::power {
namespace {

constexpr LinkMode ddr_4x{LinkWidth::X4, LinkSpeed::Ddr};
constexpr LinkMode sdr_1x{LinkWidth::X1, LinkSpeed::Sdr};

Node switch_node(std::string description = "sw") {
  Node node;
  node.type = NodeType::Switch;
  node.port_count = 24;
  node.description = std::move(description);
  return node;
}

// Table 1: 43.4 W with all ports off, 66.1 W with all 24 on; 24 x 0.95 + 43.4 = 66.2.
TEST(PowerModelTest, TheSwitchOfThePaperIsBuiltIn) {
  const PowerModel model;
  const Node node = switch_node();
  EXPECT_DOUBLE_EQ(model.base(node).value(), 43.4);
  EXPECT_DOUBLE_EQ(model.port(node, ddr_4x).watts.value(), 0.95);
  EXPECT_DOUBLE_EQ(model.port(node, sdr_1x).watts.value(), 0.21);
  EXPECT_EQ(model.port(node, ddr_4x).basis, Basis::Listed);
  EXPECT_DOUBLE_EQ(model.port(node, off_mode).watts.value(), 0);
  EXPECT_NEAR((model.base(node) + 24 * model.port(node, ddr_4x).watts).value(), 66.1, 0.15);
}

// The largest saving by the trunk rule: 3.8 (t - 1) / (43.4 + 0.95 (4 t + h)); 19.1 % for t = 4, h = 1.
TEST(PowerModelTest, TheTorusOfThePaperCanSaveWhatItsFormulaSays) {
  for (const unsigned trunk : {2U, 4U}) {
    const auto fabric = *generate("torus:8x8,hosts=1,links=" + std::to_string(trunk) + ",speed=DDR,ports=24");
    const PowerModel model;
    std::vector<LinkMode> modes = all_on(*fabric);
    const Watts before = watts(model, *fabric, modes);
    std::vector<std::pair<NodeIndex, NodeIndex>> seen;
    for (std::size_t i = 0; i < modes.size(); ++i) {
      const Link& link = fabric->links()[i];
      if (fabric->node(link.a.node).type != fabric->node(link.b.node).type) continue;
      const std::pair ends{link.a.node, link.b.node};
      if (std::find(seen.begin(), seen.end(), ends) != seen.end()) {
        modes[i] = off_mode;
      } else {
        seen.push_back(ends);
      }
    }
    const double saved = 1 - watts(model, *fabric, modes) / before;
    EXPECT_NEAR(saved, 3.8 * (trunk - 1) / (43.4 + 0.95 * (4 * trunk + 1)), 1e-9);
    EXPECT_NEAR(saved, trunk == 2 ? 0.073 : 0.191, 5e-4);
  }
}

TEST(PowerModelTest, WhatIsNotListedIsEstimatedFromTheNearest) {
  const PowerModel model;
  const Node node = switch_node();
  const auto at = [&](LinkWidth width, LinkSpeed speed) { return model.port(node, {width, speed}); };
  EXPECT_EQ(at(LinkWidth::X2, LinkSpeed::Ddr).basis, Basis::Estimated);
  EXPECT_NEAR(at(LinkWidth::X12, LinkSpeed::Ddr).watts.value(), 0.95 * std::pow(3, 0.15), 1e-9);
  // QDR is twice DDR per lane.
  EXPECT_NEAR(at(LinkWidth::X4, LinkSpeed::Qdr).watts.value(), 0.95 * std::sqrt(2.0), 1e-9);
}

TEST(PowerModelTest, BetweenTwoSpeedsTheEstimateLiesBetweenTheirWatts) {
  DeviceModel device;
  device.pattern = "sw";
  device.ports = {{{LinkWidth::X4, LinkSpeed::Sdr}, Watts{1}}, {{LinkWidth::X4, LinkSpeed::Hdr}, Watts{4}}};
  const PowerModel model{{device}};
  const double edr = model.port(switch_node(), {LinkWidth::X4, LinkSpeed::Edr}).watts.value();
  EXPECT_GT(edr, 1.5);
  EXPECT_LT(edr, 4);
}

RC_GTEST_PROP(PowerModelProperty, MoreLanesOrMoreSpeedNeverDrawLess, ()) {
  const auto width = *rc::gen::element(LinkWidth::X1, LinkWidth::X2, LinkWidth::X4, LinkWidth::X8);
  const auto speed = static_cast<LinkSpeed>(*rc::gen::inRange(1, static_cast<int>(LinkSpeed::Xdr)));
  const PowerModel model;
  const Node node = switch_node();
  const double here = model.port(node, {width, speed}).watts.value();
  RC_ASSERT(here > 0);
  RC_ASSERT(model.port(node, {LinkWidth::X12, speed}).watts.value() >= here);
  RC_ASSERT(model.port(node, {width, LinkSpeed::Xdr}).watts.value() >= here);
}

TEST(PowerModelTest, TheFirstModelThatMatchesHolds) {
  DeviceModel quantum;
  quantum.name = "Quantum";
  quantum.vendor_id = 0x2c9;
  quantum.device_id = 0xd2f0;
  quantum.base = Watts{120};
  quantum.port_off = Watts{0.1};
  quantum.ports = {{{LinkWidth::X4, LinkSpeed::Hdr}, Watts{3}}};
  DeviceModel named;
  named.pattern = "MF0;*:MQM8700/*";
  named.base = Watts{100};
  DeviceModel host;
  host.pattern = "*HCA-1";
  host.adapters = true;
  host.base = Watts{9};
  const PowerModel model{{quantum, named, host}};

  Node node = switch_node("MF0;rack7:MQM8700/U1");
  EXPECT_DOUBLE_EQ(model.base(node).value(), 100);
  EXPECT_DOUBLE_EQ(model.port(node, {LinkWidth::X4, LinkSpeed::Hdr}).watts.value(), 0);
  node.vendor_id = 0x2c9;
  node.device_id = 0xd2f0;
  // 24 ports that are off draw 0.1 W each; one that is on draws 3 W in place of that.
  EXPECT_DOUBLE_EQ(model.base(node).value(), 122.4);
  EXPECT_DOUBLE_EQ(model.port(node, {LinkWidth::X4, LinkSpeed::Hdr}).watts.value(), 2.9);

  Node adapter;
  adapter.description = "n17 HCA-1";
  EXPECT_DOUBLE_EQ(model.base(adapter).value(), 9);
  adapter.description = "n17 HCA-2";
  EXPECT_EQ(model.find(adapter), nullptr);
}

}  // namespace
}  // namespace heddle::power
