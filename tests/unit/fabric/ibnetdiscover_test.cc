#include "fabric/ibnetdiscover.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include "base/random.h"
#include "fabric/generators.h"
#include "unit/fabric/same_fabric.h"

namespace heddle {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

// Two switches, an adapter with two ports and a router, as ibnetdiscover prints them.
constexpr std::string_view plain = R"(#
# Topology file: generated on Tue Mar  3 10:00:00 2020
#
# Initiated from node 0002c90300000010 port 0002c90300000011

vendid=0x2c9
devid=0xbd36
sysimgguid=0x2c90300000003
switchguid=0x2c90300000001(2c90300000001)
Switch	36 "S-0002c90300000001"		# "edge "A"; rack 1" enhanced port 0 lid 32 lmc 2
[1]	"H-0002c90300000010"[1](2c90300000011) 		# "host mlx5_0" lid 8 4xFDR10
[7]	"S-0002c90300000002"[9]		# "core" lid 4 12xQDR

vendid=0x2c9
devid=0xbd36
switchguid=0x2c90300000002(2c90300000002)
Switch	36 "S-0002c90300000002"		# "core" base port 0 lid 4 lmc 0
[9]	"S-0002c90300000001"[7]		# "edge "A"; rack 1" lid 32 12xQDR
[2]	"H-0002c90300000010"[2](2c90300000012) 		# "host mlx5_0" lid 16 2xXDR
[5]	"R-0002c90300000020"[1](2c90300000021) 		# "gate" lid 40 4x???

vendid=0x2c9
devid=0x101b
sysimgguid=0x2c90300000010
caguid=0x2c90300000010
Ca	2 "H-0002c90300000010"		# "host mlx5_0"
[1](2c90300000011) 	"S-0002c90300000001"[1]		# lid 8 lmc 3 "edge "A"; rack 1" lid 32 4xFDR10
[2](2c90300000012) 	"S-0002c90300000002"[2]		# lid 16 lmc 3 "core" lid 4 2xXDR

vendid=0x2c9
devid=0x6282
rtguid=0x2c90300000020
Rt	2 "R-0002c90300000020"		# "gate"
[1](2c90300000021) 	"S-0002c90300000002"[5]		# lid 40 lmc 0 "core" lid 4 4x???
)";

ParsedFabric parse(std::string_view text, const topology::IncludeReader& include = {}) {
  auto parsed = parse_ibnetdiscover(text, "topo", {include, Losses::Keep});
  EXPECT_TRUE(parsed) << parsed.error().message;
  return parsed ? std::move(*parsed) : ParsedFabric{};
}

std::string error_of(std::string_view text) {
  const auto parsed = parse_ibnetdiscover(text, "topo");
  return parsed ? "no error" : parsed.error().message;
}

std::string replaced(std::string_view text, std::string_view what, std::string_view with) {
  std::string result{text};
  for (std::size_t at = result.find(what); at != std::string::npos;
       at = result.find(what, at + with.size())) {
    result.replace(at, what.size(), with);
  }
  return result;
}

LinkEnd end(const Fabric& fabric, std::uint64_t guid, std::uint8_t port) {
  const NodeIndex node = fabric.find_node(NodeGuid{guid});
  EXPECT_NE(node, no_node);
  return {node, PortNum{port}};
}

TEST(Ibnetdiscover, ReadsEveryField) {
  const auto [fabric, warnings, losses, details] = parse(plain);
  EXPECT_THAT(warnings, IsEmpty());
  EXPECT_EQ(fabric->switch_count(), 2U);
  EXPECT_EQ(fabric->channel_adapter_count(), 1U);
  EXPECT_EQ(fabric->links().size(), 4U);

  const Node& edge = fabric->node(fabric->find_node(NodeGuid{0x2c90300000001}));
  EXPECT_EQ(edge.description, "edge \"A\"; rack 1");
  EXPECT_EQ(edge.port_count, 36);
  EXPECT_TRUE(edge.enhanced_port0);
  EXPECT_EQ(edge.vendor_id, 0x2c9U);
  EXPECT_EQ(edge.device_id, 0xbd36);
  EXPECT_EQ(edge.system_image_guid, 0x2c90300000003U);
  EXPECT_FALSE(fabric->nodes()[1].enhanced_port0);
  EXPECT_EQ(fabric->nodes()[1].system_image_guid, 0U);
  EXPECT_EQ(fabric->nodes()[3].type, NodeType::Router);

  const Port& port0 = fabric->port(end(*fabric, 0x2c90300000001, 0));
  EXPECT_EQ(port0.lid, Lid{32});
  EXPECT_EQ(port0.lmc, 2);
  EXPECT_EQ(port0.guid, PortGuid{0x2c90300000001});
  const Port& host2 = fabric->port(end(*fabric, 0x2c90300000010, 2));
  EXPECT_EQ(host2.lid, Lid{16});
  EXPECT_EQ(host2.lmc, 3);
  EXPECT_EQ(host2.guid, PortGuid{0x2c90300000012});
  EXPECT_EQ(host2.width, LinkWidth::X2);
  EXPECT_EQ(host2.speed, LinkSpeed::Xdr);
  EXPECT_EQ(host2.state, PortState::Active);
  EXPECT_EQ(fabric->port(end(*fabric, 0x2c90300000001, 1)).speed, LinkSpeed::Fdr10);
  EXPECT_EQ(fabric->port(end(*fabric, 0x2c90300000001, 7)).width, LinkWidth::X12);
  EXPECT_EQ(fabric->port(end(*fabric, 0x2c90300000020, 1)).speed, LinkSpeed::None);
  EXPECT_EQ(fabric->port(end(*fabric, 0x2c90300000001, 2)).state, PortState::Down);
  EXPECT_EQ(fabric->peer(end(*fabric, 0x2c90300000001, 7)), end(*fabric, 0x2c90300000002, 9));
}

TEST(Ibnetdiscover, SurvivesTerminalsAndEditors) {
  const auto reference = parse(plain).fabric;
  const auto prompt = "[root@sm ~]# ibnetdiscover\n";
  for (const std::string& text :
       {"\xef\xbb\xbf" + std::string{plain}, replaced(plain, "\n", "\r\n"), replaced(plain, "\t", "        "),
        prompt + std::string{plain}, "\xef\xbb\xbf" + std::string{prompt} + std::string{plain},
        "$ sudo ibnetdiscover > topo.txt\n" + std::string{plain}, std::string{plain} + "\n[root@sm ~]# \n",
        std::string{plain} + "\n[root@sm ~]#", std::string{plain} + "\n\rsm-1 [ mgmt-ha-active ] (config) # ",
        std::string{plain.substr(0, plain.size() - 1)}, replaced(plain, "\n\n", "\n\n\n  \n"),
        replaced(plain, "\nSwitch", "\n  Switch")}) {
    const auto [fabric, warnings, losses, details] = parse(text);
    ASSERT_TRUE(fabric);
    EXPECT_EQ(first_difference(*reference, *fabric), "");
    EXPECT_THAT(warnings, IsEmpty());
  }
}

TEST(Ibnetdiscover, ReadsTheExtraColumnsOfFullOutput) {
  const std::string text =
      replaced(replaced(plain, "12xQDR", "12xQDR s=4 w=8 v=4"), "4xFDR10", "4xFDR10 s=4 w=2 v=4");
  EXPECT_EQ(first_difference(*parse(plain).fabric, *parse(text).fabric), "");
}

TEST(Ibnetdiscover, ReadsOutputThatIsGroupedByChassis) {
  constexpr std::string_view grouped = R"(
Chassis 1 (guid 0x8f104003f0726)
Hostname: voltaire

# Spine Nodes
vendid=0x8f1
devid=0x5a31
sysimgguid=0x8f10400410015		# Chassis 1
switchguid=0x8f10400410014(8f10400410014)	# ISR2012/ISR2004 spine 1 chip 1
Switch	24 "S-0008f10400410014"		# "ISR2004" base port 0 lid 4 lmc 0
[1]	"S-0008f104003f0726"[19]		# "ISR2012" lid 5 4xDDR

# Line Nodes
vendid=0x8f1
devid=0x5a30
sysimgguid=0x8f104003f0729		# Chassis 1
switchguid=0x8f104003f0726(8f104003f0726)	# line 2 chip 1
Switch	24 "S-0008f104003f0726"		# "ISR2012" base port 0 lid 5 lmc 0
[19]	"S-0008f10400410014"[1]		# "ISR2004" lid 4 4xDDR
[13][ext 12]	"H-0008f10403960c6c"[1](8f10403960c6d) 		# "HCA-1" lid 6 4xDDR

# Chassis Switches
vendid=0x8f1
devid=0x5a30
sysimgguid=0x8f104003f0729		# Chassis 1
switchguid=0x8f104003f0726(8f104003f0726)	# line 2 chip 1
Switch	24 "S-0008f104003f0726"		# "ISR2012" base port 0 lid 5 lmc 0
[19]	"S-0008f10400410014"[1]		# "ISR2004" lid 4 4xDDR
[13][ext 12]	"H-0008f10403960c6c"[1](8f10403960c6d) 		# "HCA-1" lid 6 4xDDR

# Chassis CAs
Non-Chassis Nodes

vendid=0x8f1
devid=0x6278
caguid=0x8f10403960c6c
Ca	2 "H-0008f10403960c6c"		# "HCA-1" (scp)
[1](8f10403960c6d) 	"S-0008f104003f0726"[13][ext 12]		# lid 6 lmc 0 "ISR2012" lid 5 4xDDR
)";
  const auto [fabric, warnings, losses, details] = parse(grouped);
  EXPECT_THAT(warnings, IsEmpty());
  EXPECT_EQ(fabric->nodes().size(), 3U);
  EXPECT_EQ(fabric->links().size(), 2U);
}

TEST(Ibnetdiscover, KnowsAggregationNodes) {
  const auto aggregation = [](std::string_view device, std::string_view description) {
    return parse(fmt::format("vendid=0x2c9\ndevid={}\nCa 1 \"H-0000000000000001\" # \"{}\"\n", device,
                             description))
        .fabric->nodes()[0]
        .aggregation;
  };
  EXPECT_TRUE(aggregation("0xcf09", "renamed"));
  EXPECT_TRUE(aggregation("0x1", "Mellanox Technologies Aggregation Node"));
  EXPECT_FALSE(aggregation("0x101b", "host mlx5_0"));
}

TEST(IbsimNet, NamesWithoutGuids) {
  const auto [fabric, warnings, losses, details] = parse(R"(# a comment
Switch	8 "Left"
[1]	"Hca1"[1]
# between ports
[2]	"Right"[3]	w=2 s=4
[3] "Right" [4]  e=8

Switch 8 "Right"   # a remark
[3]	"Left"[2]	w=2 s=7
[4]	"Left"[3]	e=8
[1]     "Hca2"

Hca	2 "Hca1"  # "a host"
[1]	"Left"[1]

Hca 1 "Hca2"
[1]	"Right"[1]
)");
  EXPECT_THAT(warnings, IsEmpty());
  EXPECT_EQ(fabric->links().size(), 4U);
  EXPECT_EQ(fabric->nodes()[0].guid, NodeGuid{0x200000});
  EXPECT_EQ(fabric->nodes()[0].description, "Left");
  EXPECT_EQ(fabric->nodes()[1].guid, NodeGuid{0x200001});
  EXPECT_EQ(fabric->nodes()[1].description, "a remark");
  EXPECT_EQ(fabric->nodes()[2].guid, NodeGuid{0x100000});
  EXPECT_EQ(fabric->nodes()[2].description, "a host");
  EXPECT_EQ(fabric->nodes()[3].guid, NodeGuid{0x100003});
  EXPECT_EQ(fabric->port(end(*fabric, 0x100000, 1)).guid, PortGuid{0x100001});
  EXPECT_EQ(fabric->port(end(*fabric, 0x200000, 1)).speed, LinkSpeed::Sdr);
  EXPECT_EQ(fabric->port(end(*fabric, 0x200000, 2)).speed, LinkSpeed::Qdr);
  EXPECT_EQ(fabric->port(end(*fabric, 0x200000, 3)).speed, LinkSpeed::Ndr);
}

TEST(IbsimNet, BasesModulesAndIncludes) {
  const topology::IncludeReader include = [](const std::string& path) -> Result<std::string> {
    if (path != "island.net") return fail(ErrorCode::NotFound, path + " is not there");
    return std::string{
        "module=\"b\"\nSwitch 4 \"sw\"\n[1] \"a#sw\"[1]\n[2] \"host\"\n\nHca 1 \"host\"\n[1] \"sw\"[2]\n"};
  };
  const auto [fabric, warnings, losses, details] = parse(R"(switchguid=0x500
speed=4
width=3
module="a"
Switch 4 "sw"
[1] "b#sw"[1]

switchguid+0x10
do Dump
include "island.net"
)",
                                                         include);
  EXPECT_THAT(warnings, ElementsAre(HasSubstr("topo:9: ibsim's command \"Dump\"")));
  ASSERT_EQ(fabric->nodes().size(), 3U);
  EXPECT_EQ(fabric->nodes()[0].guid, NodeGuid{0x500});
  EXPECT_EQ(fabric->nodes()[1].guid, NodeGuid{0x510});
  EXPECT_EQ(fabric->nodes()[1].description, "b#sw");
  EXPECT_EQ(fabric->links().size(), 2U);
  EXPECT_EQ(fabric->links()[0].speed, LinkSpeed::Qdr);

  EXPECT_THAT(parse_ibnetdiscover("include \"x\"\n", "topo", {include}).error().message,
              HasSubstr("topo:1: x is not"));
  EXPECT_THAT(error_of("include \"island.net\"\n"), HasSubstr("files only"));
  const topology::IncludeReader itself = [](const std::string&) {
    return Result<std::string>{"include \"x\"\n"};
  };
  EXPECT_THAT(parse_ibnetdiscover("include \"x\"\n", "topo", {itself}).error().message,
              HasSubstr("more than 64 files"));
}

struct Wrong {
  const char* line;
  const char* says;
};
void PrintTo(const Wrong& wrong, std::ostream* out) { *out << wrong.line; }

class WrongLines : public testing::TestWithParam<Wrong> {};

TEST_P(WrongLines, AreErrorsWithTheirPlace) {
  const std::string text = fmt::format("{}\n{}\n", plain, GetParam().line);
  const auto parsed = parse_ibnetdiscover(text, "topo");
  ASSERT_FALSE(parsed);
  EXPECT_THAT(parsed.error().message, testing::StartsWith("topo:36: "));
  EXPECT_THAT(parsed.error().message, HasSubstr(GetParam().says));
}

INSTANTIATE_TEST_SUITE_P(
    , WrongLines,
    testing::Values(Wrong{"garbage", "expected a node, a port or an assignment"},
                    Wrong{"<html>", "expected a node"},                                         //
                    Wrong{"colour=0x1", "assignment to vendid"},                                //
                    Wrong{"vendid=red", "number after vendid"},                                 //
                    Wrong{"vendid=0x123456789", "32 bits"},                                     //
                    Wrong{"devid=0x12345", "16 bits"},                                          //
                    Wrong{"caguid=0x12345678123456789", "number after caguid"},                 //
                    Wrong{"switchguid=0x1(2", "port GUID in parentheses"},                      //
                    Wrong{"switchguid=0x1(2) rest", "found \"rest\""},                          //
                    Wrong{"Switch x \"S-1\"", "ports from 1 to 254, found \"x"},                //
                    Wrong{"Switch 0 \"S-1\"", "ports from 1 to 254"},                           //
                    Wrong{"Switch 255 \"S-1\"", "ports from 1 to 254"},                         //
                    Wrong{"Switch 99999999999999999999 \"S-1\"", "ports from 1 to 254"},        //
                    Wrong{"Switch 36 \"S-1", "name of the node"},                               //
                    Wrong{"Switch 36", "but the line ends"},                                    //
                    Wrong{"Switch 36 \"\"", "name of the node"},                                //
                    Wrong{"Switch 36 \"S-1\" more", "comment after '#'"},                       //
                    Wrong{"Switch 36 \"S-1\" # \"desc", "between quotation marks"},             //
                    Wrong{"Switch 36 \"S-1\" # \"desc\" base port 0 lid x", "LID from 0"},      //
                    Wrong{"Switch 36 \"S-1\" # \"desc\" base port 0 lid 65536", "LID from 0"},  //
                    Wrong{"Switch 36 \"S-1\" # \"desc\" base port 0 lid 1 lmc 8", "LMC from 0 to 7"},
                    Wrong{"[1] \"S-1\"[1]", "below no node"},  //
                    Wrong{"Switch\t : 0x0008f10500200b50 ports 36 devid 0x1 vendid 0x2 \"x\"", "without -l"},
                    Wrong{"SW    16  1 0x0008f10500108c5c 4x QDR - CA 1 1 0x1 ( 'a' - 'b' )", "without -p"},
                    Wrong{"@[1] \"alias\"", "aliases"},        //
                    Wrong{"\x1b[31mCa", "found \"?[31mCa\""},  //
                    Wrong{"include island", "file name in quotation marks"}));

class WrongPorts : public testing::TestWithParam<Wrong> {};

TEST_P(WrongPorts, AreErrors) {
  EXPECT_THAT(error_of(fmt::format("Ca 1 \"H-1\"\n{}\n", GetParam().line)),
              testing::AllOf(HasSubstr("topo:2: "), HasSubstr(GetParam().says)));
}

INSTANTIATE_TEST_SUITE_P(, WrongPorts,
                         testing::Values(Wrong{"[1", "closing bracket"},                               //
                                         Wrong{"[300] \"S-1\"[1]", "port number from 0 to 254"},       //
                                         Wrong{"[1]", "name of the node at the other end"},            //
                                         Wrong{"[1] \"S-00", "name of the node at the other end"},     //
                                         Wrong{"[1] S-00[1]", "name of the node at the other end"},    //
                                         Wrong{"[1](xyz) \"S-1\"[1]", "port GUID in parentheses"},     //
                                         Wrong{"[1] \"S-1\"[", "port number"},                         //
                                         Wrong{"[1] \"S-1\"[1][ext ]", "[ext NUMBER]"},                //
                                         Wrong{"[1] \"S-1\"[1] lid 4", "w=, s= or e="},                //
                                         Wrong{"[1] \"S-1\"[1] w=x", "expected a number"},             //
                                         Wrong{"[1] \"S-1\"[1] # \"core", "between quotation marks"},  //
                                         Wrong{"[1] \"S-1\"[1] # lid 9 lmc 9 \"core\"",
                                               "LMC from 0 to 7"},                                       //
                                         Wrong{"[1] \"S-1\"[1] # \"core\" 4xHDR", "lid NUMBER"},         //
                                         Wrong{"[1] \"S-1\"[1] # \"core\" lid 4 4xWDR", "as in 4xHDR"},  //
                                         Wrong{"[1] \"S-1\"[1] # \"core\" lid 4 HDR", "as in 4xHDR"},    //
                                         Wrong{"[1] \"S-1\"[1] # \"core\" lid 4 5xHDR", "as in 4xHDR"}));

TEST(Ibnetdiscover, TextWithoutNodesIsNoFabric) {
  EXPECT_THAT(error_of(""), HasSubstr("no node is described"));
  EXPECT_THAT(error_of("# only\n\n# remarks\n"), HasSubstr("no node is described"));
  EXPECT_THAT(error_of("\xff\xfeS\0w\0"), HasSubstr("UTF-16"));
}

// Well-formed lines that contradict each other: the rest of the fabric goes on.

TEST(Contradictions, TwoNodesWithOneGuid) {
  const auto [fabric, warnings, losses, details] = parse(
      "caguid=0x10\nCa 1 \"first\"\n[1] \"sw\"[1]\n\ncaguid=0x10\nCa 1 \"second\"\n[1] \"sw\"[2]\n\n"
      "Switch 4 \"sw\"\n[1] \"first\"[1]\n[2] \"second\"[1]\n");
  EXPECT_EQ(fabric->nodes().size(), 2U);
  EXPECT_EQ(fabric->links().size(), 1U);
  EXPECT_THAT(
      warnings,
      ElementsAre(HasSubstr("topo:6: two nodes have the GUID 0x0000000000000010: \"first\" on line 2, and "
                            "\"second\" here, which is left out"),
                  HasSubstr("topo:11: the cable leads to \"second\", which is not described")));
}

TEST(Contradictions, TwoNodesWithOneName) {
  const auto [fabric, warnings, losses, details] = parse("Ca 1 \"twin\"\n\nCa 1 \"twin\"\n");
  EXPECT_EQ(fabric->nodes().size(), 1U);
  EXPECT_THAT(warnings,
              ElementsAre(HasSubstr("topo:3: two nodes are called \"twin\": one on line 1, and one here")));
}

TEST(Contradictions, ALinkThatOneEndSees) {
  const auto [fabric, warnings, losses, details] =
      parse("Switch 4 \"sw\"\n[1] \"host\"[1](abc)\n\nCa 1 \"host\"\n");
  EXPECT_EQ(fabric->links().size(), 1U);
  EXPECT_EQ(fabric->port({NodeIndex{1}, PortNum{1}}).guid, PortGuid{0xabc});
  EXPECT_THAT(warnings,
              ElementsAre(HasSubstr("topo:2: the cable to port 1 of \"host\" is seen from this end only")));
}

TEST(Contradictions, PortsBeyondTheNodes) {
  const auto [fabric, warnings, losses, details] =
      parse("Switch 4 \"sw\"\n[5] \"host\"[1]\n[0] \"host\"[1]\n[2] \"host\"[2]\n\nCa 1 \"host\"\n");
  EXPECT_EQ(fabric->links().size(), 0U);
  EXPECT_THAT(warnings, ElementsAre(HasSubstr(
                            "3 cables are in ports beyond those of the node; they are left out; the first: "
                            "topo:2: port 5 of \"sw\", which has ports 1 to 4")));
  EXPECT_THAT(
      details,
      ElementsAre(HasSubstr("topo:2: port 5 of \"sw\""), HasSubstr("topo:3: port 0 of \"sw\""),
                  HasSubstr("topo:4: the cable leads to port 2 of \"host\", which has ports 1 to 1")));
}

TEST(Contradictions, EndsThatDisagree) {
  const auto [fabric, warnings, losses, details] =
      parse("Switch 4 \"a\"\n[1] \"b\"[1]\n\nSwitch 4 \"b\"\n[1] \"c\"[1]\n\nSwitch 4 \"c\"\n[1] \"b\"[1]\n");
  ASSERT_EQ(fabric->links().size(), 1U);  // both b and c say so
  EXPECT_EQ(fabric->links()[0].a.node, NodeIndex{1});
  EXPECT_THAT(
      warnings,
      ElementsAre(HasSubstr("topo:2: the cable leads to port 1 of \"b\", whose line 5 says otherwise")));
}

TEST(Contradictions, TwoOneSidedCablesIntoOnePort) {
  const auto [fabric, warnings, losses, details] =
      parse("Switch 4 \"a\"\n[1] \"c\"[1]\n\nSwitch 4 \"b\"\n[1] \"c\"[1]\n\nSwitch 4 \"c\"\n");
  EXPECT_EQ(fabric->links().size(), 1U);
  EXPECT_THAT(warnings, testing::Contains(HasSubstr("port 1 of \"c\" (0x0000000000200002) has two cables")));
}

TEST(Contradictions, APortWithTwoCablesOrCabledToItself) {
  const auto [fabric, warnings, losses, details] =
      parse("Switch 4 \"a\"\n[1] \"b\"[1]\n[1] \"b\"[2]\n[3] \"a\"[3]\n\nSwitch 4 \"b\"\n[1] \"a\"[1]\n");
  EXPECT_EQ(fabric->links().size(), 1U);
  EXPECT_THAT(warnings,
              ElementsAre(HasSubstr("topo:3: port 1 of \"a\" has a cable already, to \"b\" port 1 (line 2)"),
                          HasSubstr("topo:4: port 3 of \"a\" is cabled to itself")));
}

TEST(Contradictions, RatesAndGuidsThatDiffer) {
  const auto [fabric, warnings, losses, details] = parse(
      "Switch 4 \"a\"\n[1] \"h\"[1](5) # \"h\" lid 0 4xHDR\n\nCa 1 \"h\"\n[1](6) \"a\"[1] # lid 0 lmc 0 "
      "\"a\" lid 0 "
      "4xEDR\n");
  EXPECT_EQ(fabric->links()[0].speed, LinkSpeed::Edr);
  EXPECT_EQ(fabric->port(fabric->links()[0].a).speed, LinkSpeed::Hdr);
  EXPECT_THAT(warnings,
              ElementsAre(HasSubstr("the ends of a cable differ: 4xEDR here, 4xHDR on line 2"),
                          HasSubstr("topo:2: port 1 of \"h\" has the GUID 0x0000000000000005 here")));
}

TEST(Contradictions, LidsThatAreTaken) {
  const auto [fabric, warnings, losses, details] = parse(
      "Switch 4 \"a\" # \"a\" base port 0 lid 4 lmc 2\n\nSwitch 4 \"b\" # \"b\" base port 0 lid 6 lmc 0\n\n"
      "Switch 4 \"c\" # \"c\" base port 0 lid 65534 lmc 0\n");
  EXPECT_EQ(fabric->find_port(Lid{6}), fabric->port_index({NodeIndex{0}, PortNum{0}}));
  EXPECT_THAT(warnings, ElementsAre(HasSubstr("topo:3: LID 6 is also that of port 0 of \"a\""),
                                    HasSubstr("topo:5: LID 65534 is not a unicast LID")));
}

TEST(Contradictions, WarningsAreCountedOnceTheyAreMany) {
  std::string text;
  for (int i = 0; i < 300; ++i) text += "Ca 1 \"same\"\n\n";
  const auto warnings = parse(text).warnings;
  ASSERT_EQ(warnings.size(), 1U);
  EXPECT_THAT(warnings.back(), testing::StartsWith("299 nodes have a name that another one has; they are "
                                                   "left out; the first: topo:3: two nodes are called"));
}

TEST(Contradictions, DescriptionsThatAreTooLong) {
  const auto [fabric, warnings, losses, details] =
      parse(fmt::format("Ca 1 \"H-0000000000000001\" # \"{:a>70}\"\n", ""));
  EXPECT_EQ(fabric->nodes()[0].description, std::string(64, 'a'));
  EXPECT_THAT(warnings, ElementsAre(HasSubstr("more than 64 bytes")));
}

TEST(IbnetdiscoverWriter, PrintsAsIbnetdiscoverDoes) {
  const auto fabric = parse(plain).fabric;
  const std::string text = write_ibnetdiscover(*fabric);
  EXPECT_THAT(
      text,
      HasSubstr("\nvendid=0x2c9\ndevid=0xbd36\nsysimgguid=0x2c90300000003\n"
                "switchguid=0x2c90300000001(2c90300000001)\n"
                "Switch\t36 \"S-0002c90300000001\"\t\t# \"edge 'A'; rack 1\" enhanced port 0 lid 32 lmc 2\n"
                "[1]\t\"H-0002c90300000010\"[1](2c90300000011) \t\t# \"host mlx5_0\" lid 8 4xFDR10\n"
                "[7]\t\"S-0002c90300000002\"[9]\t\t# \"core\" lid 4 12xQDR\n"));
  EXPECT_THAT(
      text,
      HasSubstr("caguid=0x2c90300000010\n"
                "Ca\t2 \"H-0002c90300000010\"\t\t# \"host mlx5_0\"\n"
                "[1](2c90300000011) \t\"S-0002c90300000001\"[1]\t\t# lid 8 lmc 3 \"edge 'A'; rack 1\" lid 32 "
                "4xFDR10\n"));
  EXPECT_THAT(
      text,
      HasSubstr("rtguid=0x2c90300000020\nRt\t2 \"R-0002c90300000020\"\t\t# \"gate\"\n"
                "[1](2c90300000021) \t\"S-0002c90300000002\"[5]\t\t# lid 40 lmc 0 \"core\" lid 4 4x???\n"));
}

TEST(IbnetdiscoverWriter, HostileDescriptionsStayInTheirLine) {
  FabricBuilder builder;
  Node node;
  node.guid = NodeGuid{1};
  node.port_count = 1;
  node.description = "a\"\n[1] \"S-1\"[1]\x1b[2J\xff";
  ASSERT_TRUE(builder.add_node(node));
  const auto again = parse(write_ibnetdiscover(*builder.build()));
  EXPECT_THAT(again.warnings, IsEmpty());
  EXPECT_EQ(again.fabric->nodes()[0].description, "a'?[1] 'S-1'[1]?[2J?");
}

/// Random in everything that the format can hold.
std::shared_ptr<const Fabric> random_fabric(std::uint64_t seed) {
  Random random{seed};
  FabricBuilder builder;
  const std::size_t nodes = 1 + random.below(12);
  for (std::size_t n = 0; n < nodes; ++n) {
    Node node;
    node.guid = NodeGuid{random() | 1U};
    node.type = static_cast<NodeType>(1 + random.below(3));
    node.port_count = static_cast<std::uint8_t>(1 + random.below(8));
    node.enhanced_port0 = node.type == NodeType::Switch && random.chance(0.5);
    node.vendor_id = static_cast<std::uint32_t>(random.below(1U << 24U));
    node.device_id = static_cast<std::uint16_t>(random());
    node.system_image_guid = random.chance(0.3) ? 0 : random();
    const std::size_t length = random.below(65);
    for (std::size_t i = 0; i < length; ++i) {
      const char c = static_cast<char>(' ' + random.below(95));
      node.description += c == '"' ? '#' : c;
    }
    const auto index = builder.add_node(node);
    if (!index) continue;
    for (unsigned p = node.type == NodeType::Switch ? 0 : 1; p <= node.port_count; ++p) {
      Port port;
      port.num = PortNum{static_cast<std::uint8_t>(p)};
      port.guid = node.type != NodeType::Switch || p == 0 ? PortGuid{random() | 1U} : PortGuid{};
      if (port.guid != PortGuid{}) {
        port.lid = Lid{static_cast<std::uint16_t>(random.below(0xc000))};
        port.lmc = static_cast<std::uint8_t>(random.below(8));
      }
      (void)builder.set_port(*index, port);
    }
  }
  for (int i = 0; i < 40; ++i) {
    const auto any_end = [&] {
      const NodeIndex node{static_cast<std::uint32_t>(random.below(nodes))};
      return LinkEnd{node,
                     PortNum{static_cast<std::uint8_t>(1 + random.below(builder.node(node).port_count))}};
    };
    (void)builder.add_link(any_end(), any_end(), static_cast<LinkWidth>(random.below(6)),
                           static_cast<LinkSpeed>(random.below(10)));
  }
  return builder.build();
}

RC_GTEST_PROP(IbnetdiscoverWriter, WrittenAndReadItIsTheSame, (std::uint64_t seed)) {
  const auto fabric = random_fabric(seed);
  const auto again = parse_ibnetdiscover(write_ibnetdiscover(*fabric), "written");
  RC_ASSERT(again.has_value());
  RC_ASSERT(first_difference(*fabric, *again->fabric) == "");
}

TEST(IbnetdiscoverWriter, GeneratedFabricsComeBack) {
  for (const char* spec :
       {"tree:k=3,n=3,full", "torus:3x4x2,hosts=2,links=3", "xgft:2;3,4;2,2",
        "dragonfly+:groups=4,leaves=2,spines=3,hosts=2,global=1", "random:switches=9,hosts=7,links=21"}) {
    const auto fabric = *assign_lids(**generate(spec), 1);
    const auto again = parse(write_ibnetdiscover(*fabric));
    EXPECT_EQ(first_difference(*fabric, *again.fabric), "") << spec;
    EXPECT_THAT(again.warnings, IsEmpty());
  }
}

}  // namespace
}  // namespace heddle
