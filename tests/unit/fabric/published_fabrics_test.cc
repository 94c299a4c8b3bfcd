/// The published outputs of ibnetdiscover that lie beside the project.
#include <fmt/format.h>
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
#include <string_view>
#include <tuple>
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

TEST_P(PublishedFabrics, HaveTheSwitchesAdaptersAndLinksThatWereCounted) {
  const Fabric& fabric = *parsed.fabric;
  EXPECT_EQ(fabric.switch_count(), GetParam().switches);
  EXPECT_EQ(fabric.channel_adapter_count(), GetParam().adapters);
  EXPECT_EQ(fabric.links().size(), GetParam().links);
  EXPECT_EQ(std::ranges::count_if(fabric.nodes(), &Node::aggregation), GetParam().aggregation);
  EXPECT_EQ(parsed.warnings.size(), GetParam().warnings) << testing::PrintToString(parsed.warnings);
  EXPECT_THAT(parsed.losses, testing::IsEmpty());
}

constexpr std::string_view log_header =
    "=~=~=~=~=~= PuTTY log 2021.02.23 14:02:06 =~=~=~=~=~=\nsrc/query_smp.c:228; umad failed\n";

/// `text` with LF for line ends and `tab` for each tab.
std::string with_tabs_as(std::string_view text, std::string_view tab) {
  std::string made;
  for (const char c : text) {
    if (c == '\r') continue;
    c == '\t' ? made += tab : made += c;
  }
  return made;
}

std::string with_crlf(std::string_view text) {
  std::string made;
  for (const char c : text) {
    if (c == '\n') made += '\r';
    made += c;
  }
  return made;
}

TEST_P(PublishedFabrics, AreTheSameWithATerminalsHeaderWithCrlfAndWithoutTabs) {
  const std::string plain = with_tabs_as(text, "\t");
  const std::string logged = std::string{log_header} + plain;
  for (const auto& [form, odd, more_warnings] :
       {std::tuple{"LF", plain, 0U}, std::tuple{"a header", logged, 1U},
        std::tuple{"CRLF", with_crlf(plain), 0U}, std::tuple{"no tabs", with_tabs_as(text, ""), 0U},
        std::tuple{"blanks for tabs", with_tabs_as(text, "  "), 0U},
        std::tuple{"all of it", with_crlf(with_tabs_as(logged, "")), 1U}}) {
    SCOPED_TRACE(form);
    const auto again = parse_topology(odd, "odd");
    ASSERT_TRUE(again) << again.error().message;
    EXPECT_EQ(first_difference(*parsed.fabric, *again->fabric), "");
    EXPECT_EQ(again->warnings.size(), GetParam().warnings + more_warnings)
        << testing::PrintToString(again->warnings);
  }
}

/// The lines of a node, from the one with vendid= to the empty one.
struct Block {
  std::size_t begin;
  std::size_t end;
  std::string name;  ///< as links refer to it, in quotation marks
};

/// The first block of this kind ("Switch", "Ca") that begins at `from` or later.
Block block_of(std::string_view kind, const std::string& text, std::size_t from) {
  const std::size_t line = text.find("\n" + std::string{kind}, from);
  const std::size_t quote = text.find('"', line);
  Block block{text.rfind("vendid=", line), text.find("\n\n", line),
              text.substr(quote, text.find('"', quote + 1) + 1 - quote)};
  block.end = std::min(block.end, text.size() - 1) + 1;
  return block;
}

std::size_t line_at(const std::string& text, std::size_t place) {
  return 1 + static_cast<std::size_t>(
                 std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(place), '\n'));
}

TEST_P(PublishedFabrics, WithoutOneOfTheirNodesAreReadWithTheNumberOfItsCables) {
  const std::string plain = with_tabs_as(text, "\t");
  for (const std::string_view kind : {"Switch", "Ca"}) {
    SCOPED_TRACE(kind);
    const Block block = block_of(kind, plain, plain.find("\n" + std::string{kind}) + 1);
    const std::string rest = plain.substr(0, block.begin) + plain.substr(block.end);
    std::size_t cables = 0;
    for (std::size_t at = rest.find(block.name + "["); at != std::string::npos;
         at = rest.find(block.name + "[", at + 1)) {
      ++cables;
    }
    ASSERT_GT(cables, 0U);
    const auto again = parse_topology(rest, "without");
    ASSERT_TRUE(again) << again.error().message;
    EXPECT_EQ(again->fabric->nodes().size() + 1, parsed.fabric->nodes().size());
    const Fabric& whole = *parsed.fabric;
    std::size_t own = 0;  // more than `cables` where some are within the node
    for (const Link& link : whole.links()) {
      own += again->fabric->find_node(whole.node(link.a.node).guid) == no_node ||
                     again->fabric->find_node(whole.node(link.b.node).guid) == no_node
                 ? 1
                 : 0;
    }
    EXPECT_EQ(again->fabric->links().size() + own, whole.links().size());
    const std::string says = cables == 1
                                 ? "the cable leads to " + block.name
                                 : fmt::format("{} cables lead to nodes that are not described", cables);
    EXPECT_THAT(again->warnings, testing::Contains(testing::HasSubstr(says)));
    EXPECT_THAT(again->losses, testing::IsEmpty());
  }
}

TEST_P(PublishedFabrics, WithOneGuidTwiceAreRefusedWithBothLines) {
  const std::string plain = with_tabs_as(text, "\t");
  const Block block = block_of("Switch", plain, 0);
  std::string copy = plain.substr(block.begin, block.end - block.begin);
  copy.replace(copy.find("\"S-"), 3, "\"copy-");  // the name; its cables stay
  const std::string doubled = plain + "\n" + copy;
  const auto again = parse_topology(doubled, "doubled");
  ASSERT_FALSE(again);
  EXPECT_THAT(again.error().message,
              testing::HasSubstr(fmt::format("doubled:{}: two nodes have the GUID",
                                             line_at(doubled, doubled.rfind("\nSwitch") + 1))));
  EXPECT_THAT(again.error().message,
              testing::HasSubstr(fmt::format("on line {},", line_at(plain, plain.find("\nSwitch") + 1))));
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

}  // namespace
}  // namespace heddle
