#include <gtest/gtest.h>

#include "power/power_model.h"

namespace heddle::power {
namespace {

TEST(ReadModelsTest, ReadsWhatTheHeaderShows) {
  const auto models = read_models(R"(
[sampling]
interval = 1

[[power.model]]
name = "QM8700"
vendor = 0x02c9
device = 0xd2f0
pattern = "*QM8700*"
base = 120
port_off = 0.1
ports = [ { mode = "4xHDR", watts = 3.1 }, { mode = "2xHDR", watts = 2.0 } ]

[[power.model]]
pattern = "*HCA*"
adapters = true
base = 9.5
ports = [ { mode = "4xHDR", watts = 2 } ]
)",
                                  "heddled.toml");
  ASSERT_TRUE(models) << models.error().message;
  ASSERT_EQ(models->size(), 2U);
  const DeviceModel& first = models->front();
  EXPECT_EQ(first.name, "QM8700");
  EXPECT_EQ(first.vendor_id, 0x2c9U);
  EXPECT_EQ(first.device_id, 0xd2f0);
  EXPECT_DOUBLE_EQ(first.base.value(), 120);
  ASSERT_EQ(first.ports.size(), 2U);
  EXPECT_EQ(first.ports[1].mode, (LinkMode{LinkWidth::X2, LinkSpeed::Hdr}));
  EXPECT_TRUE(models->back().adapters);
}

TEST(ReadModelsTest, ReadsModulesAndWhereFiguresAreFrom) {
  const auto models = read_models(R"(
[[power.model]]
pattern = "*"
base = 120
kind = "estimated"
range = [ 100, 150 ]
source = "a page"
ports_a_cage = 2
modules.optical = { watts = 15, kind = "maximum", source = "another page" }
)",
                                  "heddled.toml");
  ASSERT_TRUE(models) << models.error().message;
  const DeviceModel& model = models->front();
  EXPECT_EQ(model.origin.kind, Kind::Estimated);
  EXPECT_EQ(model.origin.source, "a page");
  EXPECT_EQ(model.origin.range, std::pair(Watts{100}, Watts{150}));
  EXPECT_EQ(model.ports_a_cage, 2U);
  EXPECT_TRUE(model.ports.empty());
  const auto& module = model.modules[static_cast<std::size_t>(Cable::Optical)];
  ASSERT_TRUE(module);
  EXPECT_DOUBLE_EQ(module->watts.value(), 15);
  EXPECT_EQ(module->origin.kind, Kind::Maximum);
}

TEST(ReadModelsTest, NothingIsNothing) {
  const auto models = read_models("[sampling]\n", "x.toml");
  ASSERT_TRUE(models);
  EXPECT_TRUE(models->empty());
}

struct Wrong {
  const char* text;
  const char* message;
};
class ReadModelsErrorTest : public testing::TestWithParam<Wrong> {};

TEST_P(ReadModelsErrorTest, NamesFileLineAndKey) {
  const auto models = read_models(GetParam().text, "x.toml");
  ASSERT_FALSE(models);
  EXPECT_EQ(models.error().code, ErrorCode::Invalid);
  EXPECT_NE(models.error().message.find(GetParam().message), std::string::npos) << models.error().message;
}

INSTANTIATE_TEST_SUITE_P(
    All, ReadModelsErrorTest,
    testing::Values(
        Wrong{"[power\n", "x.toml:1"}, Wrong{"power = 3\n", "x.toml:1: power is a table"},
        Wrong{"[power]\nmodel = 3\n", "x.toml:2: write [[power.model]]"},
        Wrong{"[[power.model]]\nbase = 1\nports=[{mode=\"4xHDR\",watts=1}]\n", "give at least one"},
        Wrong{"[[power.model]]\npattern=\"*\"\nbase = -1\nports=[{mode=\"4xHDR\",watts=1}]\n",
              "x.toml:3: base is not a number of watts"},
        Wrong{"[[power.model]]\npattern=\"*\"\nbase = 1\n", "x.toml:1: a power model without ports"},
        Wrong{"[[power.model]]\npattern=\"*\"\nbase = 1\nports=[{mode=\"9xHDR\",watts=1}]\n",
              "x.toml:4: mode is none of"},
        Wrong{"[[power.model]]\npattern=\"*\"\nbase=1\nports=[{mode=\"4xHDR\",watts=1},{mode=\"4xHDR\",watts="
              "2}]\n",
              "listed twice"},
        Wrong{"[[power.model]]\npattern=\"*\"\nbase=1\nkind=\"guessed\"\nports=[{mode=\"4xHDR\",watts=1}]\n",
              "x.toml:4: kind is measured"},
        Wrong{"[[power.model]]\npattern=\"*\"\nbase=1\nrange=[3,2]\nports=[{mode=\"4xHDR\",watts=1}]\n",
              "x.toml:4: range is"},
        Wrong{"[[power.model]]\npattern=\"*\"\nbase=1\nmodules.glass={watts=1}\n", "modules are copper"},
        Wrong{"[[power.model]]\npattern=\"*\"\nfigures=false\nbase=1\n", "unknown key 'base'"},
        Wrong{"[[power.model]]\nvendor=-1\nbase = 1\nports=[{mode=\"4xHDR\",watts=1}]\n",
              "x.toml:2: vendor is not a whole number"}));

// A model as another program gets it weighs links alike.
TEST(ReadModelsTest, ReadsWhatWriteModelsWrites) {
  std::vector<DeviceModel> models = shipped_models();
  models.front().name = "a \"name\\\n";
  const auto read = read_models(write_models(models), "written");
  ASSERT_TRUE(read) << read.error().message;
  ASSERT_EQ(read->size(), models.size());
  for (std::size_t i = 0; i < models.size(); ++i) {
    EXPECT_EQ((*read)[i].name, models[i].name);
    EXPECT_EQ((*read)[i].vendor_id, models[i].vendor_id);
    EXPECT_EQ((*read)[i].device_id, models[i].device_id);
    EXPECT_EQ((*read)[i].pattern, models[i].pattern);
    EXPECT_EQ((*read)[i].figures, models[i].figures);
    EXPECT_EQ((*read)[i].base, models[i].base);
    EXPECT_EQ((*read)[i].port_off, models[i].port_off);
    EXPECT_EQ((*read)[i].ports_a_cage, models[i].ports_a_cage);
    ASSERT_EQ((*read)[i].ports.size(), models[i].ports.size());
    for (std::size_t p = 0; p < models[i].ports.size(); ++p) {
      EXPECT_EQ((*read)[i].ports[p].mode, models[i].ports[p].mode);
      EXPECT_EQ((*read)[i].ports[p].watts, models[i].ports[p].watts);
    }
    for (std::size_t c = 0; c < cable_kinds; ++c) {
      ASSERT_EQ((*read)[i].modules[c].has_value(), models[i].modules[c].has_value());
      if (!models[i].modules[c]) continue;
      EXPECT_EQ((*read)[i].modules[c]->watts, models[i].modules[c]->watts);
    }
  }
}

}  // namespace
}  // namespace heddle::power
