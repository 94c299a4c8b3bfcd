#include <gtest/gtest.h>

#include "power/power_model.h"

namespace heddle::power {
namespace {

Node box(std::uint16_t device, const std::string& description) {
  Node node;
  node.type = NodeType::Switch;
  node.port_count = 64;
  node.vendor_id = 0x2c9;
  node.device_id = device;
  node.description = description;
  return node;
}

PowerModel shipped(Cable cable = Cable::Copper) {
  return PowerModel{shipped_models(), Unmatched::Unknown, cable};
}

// A figure without a source is not there.
TEST(ShippedModelsTest, EachFigureHasItsSourceAndKind) {
  ASSERT_TRUE(read_models(shipped_models_text(), "models.toml"));
  ASSERT_GE(shipped_models().size(), 8U);
  const auto is_sourced = [](const Origin& origin, Watts watts) {
    const bool in_range = !origin.range || (origin.range->first <= watts && watts <= origin.range->second);
    return origin.kind != Kind::Unsaid && origin.source.size() > 20 && in_range &&
           (origin.kind != Kind::Estimated || origin.range);
  };
  for (const DeviceModel& model : shipped_models()) {
    if (!model.figures) {
      EXPECT_EQ(model.base, Watts{}) << model.name;
      continue;
    }
    EXPECT_TRUE(is_sourced(model.origin, model.base)) << model.name;
    for (const auto& module : model.modules) {
      EXPECT_TRUE(!module || is_sourced(module->origin, module->watts)) << model.name;
    }
  }
}

TEST(ShippedModelsTest, TheChipAndWhatItIsBuiltIntoTellTheModel) {
  const PowerModel model = shipped();
  const auto name = [&](std::uint16_t device, const char* description) {
    const DeviceModel* found = model.matching(box(device, description));
    return found == nullptr ? "" : found->name;
  };
  EXPECT_EQ(name(0xd2f0, "Quantum Mellanox Technologies"), "QM8700, QM8790");
  EXPECT_EQ(name(0xd2f0, "MF0;core:CS8500/L07/U1"), "CS8500");
  EXPECT_EQ(name(0xd2f2, "MF0;leaf-1:MQM9700/U1"), "QM9700, QM9790");
  EXPECT_EQ(name(0xcb20, "SwitchIB Mellanox Technologies"), "SB7700, SB7790");
  EXPECT_EQ(name(0xcb20, "MF0;core:CS7520/S02/U1"), "CS7500");
  EXPECT_EQ(name(0xcf08, "MF0;ib1:MSB7800/U1"), "SB7800, SB7890");
  EXPECT_EQ(name(0xbd36, "Infiniscale-IV Mellanox Technologies"), "");
  EXPECT_TRUE(model.is_unknown(box(0xd2f0, "MF0;core:CS8500/L07/U1")));
  EXPECT_FALSE(model.is_unknown(box(0xd2f0, "ib-i4l1s01")));
  EXPECT_FALSE(PowerModel{}.is_unknown(box(0xbd36, "any")));
}

TEST(ShippedModelsTest, ModulesAreThoseThatAreSaidToBePluggedIn) {
  const Node quantum = box(0xd2f0, "ib-i4l1s01");
  EXPECT_DOUBLE_EQ(shipped(Cable::Copper).module(quantum).value(), 0.1);
  EXPECT_DOUBLE_EQ(shipped(Cable::Optical).module(quantum).value(), 4.5);
  // Nobody was found who says what an active optical cable draws there.
  EXPECT_DOUBLE_EQ(shipped(Cable::Aoc).module(box(0xd2f2, "leaf")).value(), 0);
}

}  // namespace
}  // namespace heddle::power
