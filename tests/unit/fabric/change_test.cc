#include "fabric/change.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "fabric/generators.h"
#include "fabric/ibnetdiscover.h"

namespace heddle {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

std::shared_ptr<const Fabric> parsed(const std::string& text) {
  return parse_ibnetdiscover(text, "topo").value().fabric;
}

const std::string two_switches =
    "switchguid=0xa\nSwitch 4 \"a\" # \"a\" base port 0 lid 1 lmc 0\n[1] \"b\"[1]\n[2] \"b\"[2]\n\n"
    "switchguid=0xb\nSwitch 4 \"b\" # \"b\" base port 0 lid 2 lmc 0\n[1] \"a\"[1]\n[2] \"a\"[2]\n\n";

PortRef port(std::uint64_t node, std::uint8_t number) { return {NodeGuid{node}, PortNum{number}}; }

TEST(FabricChange, NothingBetweenTwoOfAKind) {
  const auto a = generate("torus:3x3,hosts=2").value();
  const auto b = generate("torus:3x3,hosts=2").value();
  EXPECT_TRUE(compare(*a, *b).empty());
  EXPECT_EQ(describe(compare(*a, *b), *a, *b), "");
}

TEST(FabricChange, ACableIsPluggedElsewhere) {
  const auto before = parsed(two_switches);
  const auto after = parsed(
      "switchguid=0xa\nSwitch 4 \"a\" # \"a\" base port 0 lid 1 lmc 0\n[1] \"b\"[1]\n[3] \"b\"[2]\n\n"
      "switchguid=0xb\nSwitch 4 \"b\" # \"b\" base port 0 lid 2 lmc 0\n[1] \"a\"[1]\n[2] \"a\"[3]\n\n");
  const auto change = compare(*before, *after);
  EXPECT_THAT(change.links_removed, ElementsAre(LinkRef{port(0xa, 2), port(0xb, 2)}));
  EXPECT_THAT(change.links_added, ElementsAre(LinkRef{port(0xa, 3), port(0xb, 2)}));
  EXPECT_THAT(change.nodes_added, IsEmpty());
  ASSERT_EQ(change.ports_changed.size(), 2U);
  EXPECT_EQ(change.ports_changed[0].port, port(0xa, 2));
  EXPECT_EQ(change.ports_changed[0].after.state, PortState::Down);
  EXPECT_EQ(describe(change, *before, *after),
            "- link a/2 -- b/2\n"
            "+ link a/3 -- b/2\n"
            "~ port a/2: state Active -> Down, physical LinkUp -> Polling, width 4x -> -, speed SDR -> -\n"
            "~ port a/3: state Down -> Active, physical Polling -> LinkUp, width - -> 4x, speed - -> SDR\n");
}

TEST(FabricChange, NodesComeGoAndAreRenamed) {
  const auto before = parsed(two_switches);
  const auto after = parsed(
      "switchguid=0xa\nSwitch 4 \"a\" # \"edge\" base port 0 lid 7 lmc 0\n\nswitchguid=0xc\nSwitch 4 "
      "\"c\"\n\n");
  const auto change = compare(*before, *after);
  EXPECT_THAT(change.nodes_added, ElementsAre(NodeGuid{0xc}));
  EXPECT_THAT(change.nodes_removed, ElementsAre(NodeGuid{0xb}));
  EXPECT_THAT(change.nodes_renamed, ElementsAre(NodeGuid{0xa}));
  EXPECT_EQ(change.links_removed.size(), 2U);
  const std::string text = describe(change, *before, *after);
  EXPECT_THAT(text, HasSubstr("- switch b (0x000000000000000b)\n+ switch c (0x000000000000000c)\n"));
  EXPECT_THAT(text, HasSubstr("~ switch a is called edge (0x000000000000000a)\n"));
  EXPECT_THAT(text, HasSubstr("- link a/1 -- b/1\n"));
  EXPECT_THAT(text, HasSubstr("~ port edge/0: LID 1 -> 7\n"));
}

TEST(FabricChange, ANodeWithOtherPortsIsAnother) {
  const auto change =
      compare(*parsed("switchguid=0xa\nSwitch 4 \"a\"\n"), *parsed("switchguid=0xa\nSwitch 5 \"a\"\n"));
  EXPECT_THAT(change.nodes_added, ElementsAre(NodeGuid{0xa}));
  EXPECT_THAT(change.nodes_removed, ElementsAre(NodeGuid{0xa}));
  EXPECT_THAT(change.ports_changed, IsEmpty());
}

TEST(FabricChange, ASubnetManagerAssignsLids) {
  const auto before = generate("tree:k=2,n=2").value();
  const auto after = assign_lids(*before).value();
  const auto change = compare(*before, *after);
  EXPECT_THAT(change.links_added, IsEmpty());
  EXPECT_EQ(change.ports_changed.size(),
            4 + 2 * before->links().size());  // port 0 of the switches, both ends of cables
}

TEST(FabricChange, LinksAreNamedTheSameFromBothEnds) {
  const auto fabric = parsed(two_switches);
  for (const Link& link : fabric->links()) {
    EXPECT_EQ(link_ref(*fabric, link), link_ref(*fabric, Link{link.b, link.a}));
  }
}

}  // namespace
}  // namespace heddle
