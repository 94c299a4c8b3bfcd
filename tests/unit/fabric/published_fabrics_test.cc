/// The published outputs of ibnetdiscover that lie beside the project.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <ostream>

#include "fabric/ibnetdiscover.h"
#include "support/places.h"
#include "unit/fabric/same_fabric.h"

namespace heddle {
namespace {

/// Counted with grep and a script of its own, not by the reader.
struct Published {
  const char* name;
  std::size_t switches;
  std::size_t adapters;
  std::size_t links;
  std::size_t aggregation;
};
void PrintTo(const Published& file, std::ostream* out) { *out << file.name; }

class PublishedFabrics : public testing::TestWithParam<Published> {
 protected:
  void SetUp() override {
    const std::filesystem::path path =
        test::shared_data() / "fabrics" / (std::string{GetParam().name} + ".ibnetdiscover");
    if (!std::filesystem::exists(path)) GTEST_SKIP() << path << " is not here";
    std::ifstream in{path, std::ios::binary};
    const std::string text{std::istreambuf_iterator<char>{in}, {}};
    auto result = parse_ibnetdiscover(text, GetParam().name);
    ASSERT_TRUE(result) << result.error().message;
    parsed = std::move(*result);
  }

  ParsedFabric parsed;
};

TEST_P(PublishedFabrics, HaveTheSwitchesAdaptersAndLinksThatWereCounted) {
  const Fabric& fabric = *parsed.fabric;
  EXPECT_EQ(fabric.switch_count(), GetParam().switches);
  EXPECT_EQ(fabric.channel_adapter_count(), GetParam().adapters);
  EXPECT_EQ(fabric.links().size(), GetParam().links);
  EXPECT_EQ(std::ranges::count_if(fabric.nodes(), &Node::aggregation), GetParam().aggregation);
  EXPECT_THAT(parsed.warnings, testing::IsEmpty());
}

TEST_P(PublishedFabrics, AreTheSameWhenWrittenAndReadAgain) {
  const auto again = parse_ibnetdiscover(write_ibnetdiscover(*parsed.fabric), "written");
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_EQ(first_difference(*parsed.fabric, *again->fabric), "");
}

INSTANTIATE_TEST_SUITE_P(Files, PublishedFabrics,
                         testing::Values(Published{"psmn-x5", 11, 89, 159, 0},
                                         Published{"quantum-60sw-lab-2019", 60, 3, 808, 0},
                                         Published{"small-4sw-12ca", 4, 12, 16, 4},
                                         Published{"superpod-krskp-hdr-2022", 206, 1336, 3572, 206},
                                         Published{"tartu-qdr-2014", 8, 144, 192, 0}),
                         [](const auto& file) {
                           std::string name = file.param.name;
                           std::ranges::replace(name, '-', '_');
                           return name;
                         });

}  // namespace
}  // namespace heddle
