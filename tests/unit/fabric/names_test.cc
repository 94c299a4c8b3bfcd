#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "fabric/generators.h"
#include "fabric/ibnetdiscover.h"
#include "fabric/link_name.h"
#include "fabric/node_names.h"
#include "fabric/unique_names.h"

namespace heddle {
namespace {

using testing::HasSubstr;

NodeNames names_of(std::string_view text) {
  auto names = NodeNames::parse(text, "map");
  EXPECT_TRUE(names) << names.error().message;
  return names ? std::move(*names) : NodeNames{};
}

std::string name(const NodeNames& names, std::uint64_t guid, const std::string& description = "own") {
  Node node;
  node.guid = NodeGuid{guid};
  node.description = description;
  return names.of(node);
}

TEST(NodeNames, ReadsTheFileOfOpensm) {
  const NodeNames names = names_of(
      "# node names\n"
      "0x1 \"core 1\"\r\n"
      "  0x2\tedge 2   # in rack 4\n"
      "\n"
      "3 decimal\n"
      "0x4 \"a # within\" rest\n"
      "0x5\n"
      "0x6 # none\n"
      "0x1 \"the first counts\"\n"
      "0x7 \"ctrl\x1b[2J\"");
  EXPECT_EQ(name(names, 1), "core 1");
  EXPECT_EQ(name(names, 2), "edge 2");
  EXPECT_EQ(name(names, 3), "decimal");
  EXPECT_EQ(name(names, 4), "a # within");
  EXPECT_EQ(name(names, 5), "own");
  EXPECT_EQ(name(names, 6), "own");
  EXPECT_EQ(name(names, 7), "ctrl?[2J");
  EXPECT_EQ(names.size(), 5U);
}

TEST(NodeNames, LinesWithoutGuidAreErrors) {
  for (const char* line :
       {"core 0x1", "0xyz \"a\"", "\"core\"", "0x1\"core\"", "0x12345678901234567 \"a\""}) {
    const auto names = NodeNames::parse(fmt::format("0x1 \"a\"\n{}\n", line), "map");
    ASSERT_FALSE(names) << line;
    EXPECT_THAT(names.error().message, HasSubstr("map:2: expected a GUID"));
  }
}

TEST(NodeNames, FallsBackOnTheDescriptionAndTheGuid) {
  EXPECT_EQ(name({}, 1, "host\x07 mlx5_0  "), "host? mlx5_0");
  EXPECT_EQ(name({}, 1, ""), "0x0000000000000001");
  EXPECT_EQ(name({}, 1, std::string(64, '\0')), "0x0000000000000001");
}

TEST(NodeNames, AMissingFileIsAnError) {
  EXPECT_THAT(NodeNames::load("/nowhere/map").error().message, HasSubstr("/nowhere/map: cannot be opened"));
}

// Names that are hard to tell from ports, links and GUIDs, and a pair of twins.
const auto odd = parse_ibnetdiscover(R"(switchguid=0xa
Switch 8 "a" # "MF0;ib5:SX6036/U1"
[1] "b"[1]
[2] "c"[1]
[3] "d"[1]
[4] "e"[1]
[5] "h"[1]
[6] "a"[7]
[7] "a"[6]

switchguid=0xb
Switch 4 "b" # "twin"
[1] "a"[1]

switchguid=0xc
Switch 4 "c" # "twin"
[1] "a"[2]

switchguid=0xd
Switch 4 "d" # "left -- right"
[1] "a"[3]

switchguid=0xe
Switch 4 "e" # "0xa"
[1] "a"[4]

caguid=0xf
Ca 1 "h" # "   "
[1] "a"[5]
)",
                                     "topo");

TEST(FabricNames, WhatIsWrittenIsFoundAgain) {
  for (const auto& fabric : {odd.value().fabric, generate("torus:3x3,hosts=2,links=2").value()}) {
    const FabricNames names{fabric};
    for (std::uint32_t n = 0; n < fabric->nodes().size(); ++n) {
      EXPECT_EQ(names.find_node(names.node(NodeIndex{n})).value(), NodeIndex{n}) << names.node(NodeIndex{n});
    }
    for (std::uint32_t l = 0; l < fabric->links().size(); ++l) {
      const Link& link = fabric->links()[l];
      EXPECT_EQ(names.find_link(names.link(LinkIndex{l})).value(), LinkIndex{l}) << names.link(LinkIndex{l});
      EXPECT_EQ(names.find_link(names.port(link.b)).value(), LinkIndex{l});
      EXPECT_EQ(names.find_link(names.port(link.b) + " -- " + names.port(link.a)).value(), LinkIndex{l});
      EXPECT_EQ(names.find_port(to_string(fabric->ref(link.a))).value(), link.a);
    }
  }
}

TEST(FabricNames, AreTheOperatorsOrTheNodesOwn) {
  const auto fabric = generate("tree:k=2,n=2").value();
  const FabricNames names{fabric,
                          names_of(fmt::format("{} \"Bottom left\"", to_string(fabric->nodes()[0].guid)))};
  EXPECT_EQ(names.link(LinkIndex{0}), "Bottom left/1 -- host-0 mlx5_0/1");
  EXPECT_EQ(names.find_link("leaf-0/1").value(), LinkIndex{0});
  EXPECT_EQ(names.find_link(" Bottom left/1 ").value(), LinkIndex{0});
}

TEST(FabricNames, ErrorsSayWhatToWrite) {
  const FabricNames names{odd.value().fabric};
  const auto node_error = [&](std::string_view text) { return names.find_node(text).error(); };
  const auto link_error = [&](std::string_view text) { return names.find_link(text).error(); };
  EXPECT_EQ(node_error("nobody").code, ErrorCode::NotFound);
  EXPECT_EQ(node_error("twin").code, ErrorCode::Conflict);
  EXPECT_THAT(node_error("twin").message,
              HasSubstr("2 nodes are called \"twin\"; say which: twin#000b, twin#000c"));
  EXPECT_EQ(node_error("0xffff").code, ErrorCode::NotFound);
  EXPECT_EQ(link_error("0xa").code, ErrorCode::Invalid);
  EXPECT_THAT(link_error("0xa/x").message, HasSubstr("write NODE/PORT"));
  EXPECT_THAT(link_error("0xa/9").message, HasSubstr("has ports 1 to 8, and no port 9"));
  EXPECT_THAT(link_error("0xa/99999999999").message, HasSubstr("write NODE/PORT"));
  EXPECT_THAT(link_error("0xa/8").message, HasSubstr("has no cable"));
  EXPECT_THAT(link_error("0xa/1 -- 0xc/1").message, HasSubstr("the first is joined to twin#000b/1"));
}

// Three switches of one chip, of which two have the same last four digits, and one that somebody called as
// the form of another.
const auto chips = parse_ibnetdiscover(R"(switchguid=0x1a2e0
Switch 8 "a" # "Chip"
[1] "b"[1]
[2] "c"[1]
[3] "d"[1]

switchguid=0x2a2e0
Switch 8 "b" # "Chip"
[1] "a"[1]

switchguid=0x3b3f1
Switch 8 "c" # "Chip"
[1] "a"[2]

switchguid=0x4
Switch 8 "d" # "Chip#3b3f1"
[1] "a"[3]
)",
                                       "topo");

TEST(UniqueNames, HaveAsManyDigitsAsTheNodesOfOneNameNeed) {
  const FabricNames names{chips.value().fabric};
  EXPECT_EQ(names.node(NodeIndex{0}), "Chip#1a2e0");
  EXPECT_EQ(names.node(NodeIndex{1}), "Chip#2a2e0");
  EXPECT_EQ(names.node(NodeIndex{2}), "0x000000000003b3f1") << "the form is another one's description";
  EXPECT_EQ(names.node(NodeIndex{3}), "Chip#3b3f1");
  EXPECT_EQ(FabricNames{odd.value().fabric}.node(NodeIndex{1}), "twin#000b");
  EXPECT_EQ(unique_name(*odd.value().fabric, NodeIndex{1}), "twin#000b");
  EXPECT_EQ(unique_name(*chips.value().fabric, NodeIndex{1}), "Chip#2a2e0");
}

TEST(UniqueNames, FewerDigitsAreTakenWhileTheyFitOneNode) {
  const FabricNames names{chips.value().fabric};
  EXPECT_EQ(names.find_node("Chip#b3f1").value(), NodeIndex{2});
  EXPECT_EQ(names.find_node("Chip#1a2e0").value(), NodeIndex{0});
  EXPECT_EQ(names.find_node(fmt::format("Chip#{:016x}", 0x1a2e0)).value(), NodeIndex{0});
  EXPECT_EQ(names.find_node(fmt::format("Chip#{:017x}", 0x1a2e0)).error().code, ErrorCode::NotFound);
  EXPECT_EQ(names.find_node("Chip#ffff").error().code, ErrorCode::NotFound);
  EXPECT_EQ(names.find_node("Chip#2e0").error().code, ErrorCode::NotFound) << "four digits at least";
  const Error both = names.find_node("Chip#a2e0").error();
  EXPECT_EQ(both.code, ErrorCode::Conflict);
  EXPECT_THAT(both.message, HasSubstr("2 nodes are called \"Chip#a2e0\"; say which: Chip#1a2e0, Chip#2a2e0"));
  EXPECT_THAT(names.find_node("Chip").error().message, HasSubstr("3 nodes are called \"Chip\""));
}

TEST(UniqueNames, CountTheOperatorsNamesToo) {
  const auto fabric = chips.value().fabric;
  const NodeNames given = names_of("0x1a2e0 \"edge\"\n0x3b3f1 \"edge\"\n");
  const FabricNames names{fabric, given};
  EXPECT_EQ(names.node(NodeIndex{0}), "edge#a2e0");
  EXPECT_EQ(names.node(NodeIndex{1}), "Chip") << "nobody else is called so";
  EXPECT_EQ(names.node(NodeIndex{2}), "edge#b3f1");
  EXPECT_EQ(names.find_node("Chip").value(), NodeIndex{1});
  EXPECT_EQ(names.find_node("Chip#1a2e0").value(), NodeIndex{0}) << "its own description counts as well";
  const ShownNames shown{given, *fabric};
  EXPECT_EQ(shown.of(fabric->node(NodeIndex{2})), "edge#b3f1");
  EXPECT_EQ(shown.of(fabric->node(NodeIndex{3})), "Chip#3b3f1");
}

TEST(UniqueNames, OfHostileDescriptionsAreFitToPrint) {
  FabricBuilder builder;
  for (const std::uint64_t guid : {0x10001, 0x10002}) {
    Node node;
    node.guid = NodeGuid{guid};
    node.description = "a\x1b[2J\xff";
    ASSERT_TRUE(builder.add_node(node));
  }
  EXPECT_EQ(unique_names(*builder.build())[1], "a?[2J?#0002");
}

}  // namespace
}  // namespace heddle
