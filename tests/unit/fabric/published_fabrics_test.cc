/// The published outputs of ibnetdiscover that lie beside the project.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <ostream>
#include <set>
#include <string>
#include <utility>

#include "fabric/ibnetdiscover.h"
#include "fabric/link_name.h"
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
  std::size_t warnings;  ///< kinds of them
};
void PrintTo(const Published& file, std::ostream* out) { *out << file.name; }

class PublishedFabrics : public testing::TestWithParam<Published> {
 protected:
  void SetUp() override {
    auto& read = read_once()[GetParam().name];
    text = read.first;
    parsed = read.second;
    if (parsed.fabric) return;
    const std::filesystem::path path =
        test::shared_data() / "fabrics" / (std::string{GetParam().name} + ".ibnetdiscover");
    if (!std::filesystem::exists(path)) GTEST_SKIP() << path << " is not here";
    std::ifstream in{path, std::ios::binary};
    text.assign(std::istreambuf_iterator<char>{in}, {});
    auto result = parse_ibnetdiscover(text, GetParam().name);
    ASSERT_TRUE(result) << result.error().message;
    parsed = std::move(*result);
    read = {text, parsed};
  }

  /// Large files are not read anew for each test.
  static std::map<std::string, std::pair<std::string, ParsedFabric>>& read_once() {
    static std::map<std::string, std::pair<std::string, ParsedFabric>> files;
    return files;
  }

  std::string text;
  ParsedFabric parsed;
};

/// Of files that are read again in a moment.
using SmallPublishedFabrics = PublishedFabrics;

TEST_P(PublishedFabrics, HaveTheSwitchesAdaptersAndLinksThatWereCounted) {
  const Fabric& fabric = *parsed.fabric;
  EXPECT_EQ(fabric.switch_count(), GetParam().switches);
  EXPECT_EQ(fabric.channel_adapter_count(), GetParam().adapters);
  EXPECT_EQ(fabric.links().size(), GetParam().links);
  EXPECT_EQ(std::ranges::count_if(fabric.nodes(), &Node::aggregation), GetParam().aggregation);
  EXPECT_EQ(parsed.warnings.size(), GetParam().warnings) << testing::PrintToString(parsed.warnings);
  EXPECT_THAT(parsed.losses, testing::IsEmpty());
}

TEST_P(PublishedFabrics, AreTheSameInATerminalsLogWithoutTabs) {
  std::string logged =
      "=~=~=~=~=~= PuTTY log 2021.02.23 14:02:06 =~=~=~=~=~=\r\nsrc/query_smp.c:228; umad failed\r\n";
  for (const char c : text) {
    if (c == '\t') continue;
    if (c == '\n' && logged.back() != '\r') logged += '\r';
    logged += c;
  }
  const auto again = parse_topology(logged, "logged");
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_EQ(first_difference(*parsed.fabric, *again->fabric), "");
  EXPECT_EQ(again->warnings.size(), GetParam().warnings + 1) << testing::PrintToString(again->warnings);
}

/// Where the blocks of switches begin and end, from the line with vendid= to the empty one.
std::pair<std::size_t, std::size_t> block_of_a_switch(const std::string& text, std::size_t after) {
  const std::size_t line = text.find("\nSwitch", after);
  const std::size_t begin = text.rfind("vendid=", line);
  std::size_t end = begin;
  while (end < text.size() && text[end] != '\n' && text[end] != '\r') {
    end = std::min(text.find('\n', end), text.size() - 1) + 1;
  }
  return {begin, end};
}

TEST_P(SmallPublishedFabrics, WithoutOneOfTheirSwitchesAreReadWithTheNumberOfItsCables) {
  const auto [begin, end] = block_of_a_switch(text, text.find("\nSwitch") + 1);
  const std::size_t quote = text.find('"', begin);
  const std::string name = text.substr(quote, text.find('"', quote + 1) + 1 - quote);
  const std::string rest = text.substr(0, begin) + text.substr(end);
  std::size_t cables = 0;
  for (std::size_t at = rest.find(name + "["); at != std::string::npos; at = rest.find(name + "[", at + 1)) {
    ++cables;
  }
  ASSERT_GT(cables, 1U);
  const auto again = parse_topology(rest, "without");
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_EQ(again->fabric->switch_count() + 1, GetParam().switches);
  EXPECT_THAT(again->warnings, testing::Contains(testing::HasSubstr(
                                   std::to_string(cables) + " cables lead to nodes that are not described")));
}

TEST_P(SmallPublishedFabrics, WithOneGuidTwiceAreRefused) {
  const auto [begin, end] = block_of_a_switch(text, 0);
  std::string copy = text.substr(begin, end - begin);
  copy.replace(copy.find("\"S-"), 3, "\"copy-");  // the name; its cables stay
  const auto again = parse_topology(text + "\n" + copy, "doubled");
  ASSERT_FALSE(again);
  const auto lines =
      std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(text.find("\nSwitch")), '\n') + 2;
  EXPECT_THAT(again.error().message, testing::HasSubstr("two nodes have the GUID"));
  EXPECT_THAT(again.error().message, testing::HasSubstr("on line " + std::to_string(lines) + ","));
}

TEST_P(PublishedFabrics, HaveNamesThatTellNodesApart) {
  const FabricNames names{parsed.fabric};
  std::set<std::string> seen;
  for (std::uint32_t n = 0; n < parsed.fabric->nodes().size(); ++n) {
    const std::string& name = names.node(NodeIndex{n});
    EXPECT_TRUE(seen.insert(name).second) << name;
    const auto found = names.find_node(name);
    ASSERT_TRUE(found) << name << ": " << found.error().message;
    EXPECT_EQ(*found, NodeIndex{n}) << name;
  }
}

TEST_P(PublishedFabrics, AreTheSameWhenWrittenAndReadAgain) {
  const auto again = parse_topology(write_ibnetdiscover(*parsed.fabric), "written");
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_EQ(first_difference(*parsed.fabric, *again->fabric), "");
}

std::string name_of(const testing::TestParamInfo<Published>& file) {
  std::string name = file.param.name;
  std::ranges::replace(name, '-', '_');
  return name;
}

constexpr Published psmn{"psmn-x5", 11, 89, 159, 0, 0};
constexpr Published quantum{"quantum-60sw-lab-2019", 60, 3, 808, 0, 1};
constexpr Published small{"small-4sw-12ca", 4, 12, 16, 4, 0};
constexpr Published superpod{"superpod-krskp-hdr-2022", 206, 1336, 3572, 206, 0};
constexpr Published selene{"selene-compute-hdr-2021", 666, 4341, 12852, 666, 0};
constexpr Published tartu{"tartu-qdr-2014", 8, 144, 192, 0, 0};

INSTANTIATE_TEST_SUITE_P(Files, PublishedFabrics,
                         testing::Values(psmn, quantum, small, superpod, selene, tartu), name_of);
INSTANTIATE_TEST_SUITE_P(Files, SmallPublishedFabrics, testing::Values(psmn, quantum, small, tartu), name_of);

}  // namespace
}  // namespace heddle
