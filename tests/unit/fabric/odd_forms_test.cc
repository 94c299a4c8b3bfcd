/// Topology files as sites have them: of other tools, of terminals, with less than everything in them.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "fabric/ibnetdiscover.h"
#include "fabric/topology.h"
#include "unit/fabric/same_fabric.h"

namespace heddle {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

// Two switches of one chassis and a host, as ibnetdiscover prints them.
constexpr std::string_view plain = R"(vendid=0x2c9
devid=0xd2f0
sysimgguid=0x5000
switchguid=0x5001(5001)
Switch	41 "S-0000000000005001"		# "Quantum" base port 0 lid 1 lmc 0
[1]	"S-0000000000005002"[1]		# "Quantum" lid 2 4xHDR
[2]	"H-0000000000006001"[1](6002) 		# "host mlx5_0" lid 3 4xHDR

vendid=0x2c9
devid=0xd2f0
sysimgguid=0x5000
switchguid=0x5002(5002)
Switch	41 "S-0000000000005002"		# "Quantum" base port 0 lid 2 lmc 0
[1]	"S-0000000000005001"[1]		# "Quantum" lid 1 4xHDR

vendid=0x2c9
devid=0x101b
sysimgguid=0x6000
caguid=0x6001
Ca	1 "H-0000000000006001"		# "host mlx5_0"
[1](6002) 	"S-0000000000005001"[2]		# lid 3 lmc 0 "Quantum" lid 1 4xHDR
)";

std::string replaced(std::string text, std::string_view what, std::string_view with) {
  for (std::size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + with.size())) {
    text.replace(at, what.size(), with);
  }
  return text;
}

ParsedFabric parse(const std::string& text) {
  auto parsed = parse_topology(text, "topo");
  EXPECT_TRUE(parsed) << parsed.error().message;
  return parsed ? std::move(*parsed) : ParsedFabric{FabricBuilder{}.build()};
}

std::string error_of(const std::string& text) {
  const auto parsed = parse_topology(text, "topo");
  return parsed ? "no error" : parsed.error().message;
}

std::string difference_to_plain(const ParsedFabric& parsed) {
  return first_difference(*parse(std::string{plain}).fabric, *parsed.fabric);
}

TEST(OddForms, Ibdiagnet2GivesTheSystemImageAndTheNameIsTheNode) {
  std::string text = replaced(std::string{plain}, "switchguid=0x5001(5001)", "switchguid=0x5000(0x5001)");
  text = replaced(text, "switchguid=0x5002(5002)", "switchguid=0x5000(0x5002)");
  text = replaced(text, "caguid=0x6001", "caguid=0x6000");
  const ParsedFabric parsed = parse(text);
  EXPECT_EQ(difference_to_plain(parsed), "");
  EXPECT_THAT(parsed.warnings,
              ElementsAre(HasSubstr("3 nodes are given with the GUID of their system image")));
  EXPECT_EQ(parsed.details.size(), 3U);

  const ParsedFabric without = parse(replaced(text, "sysimgguid=0x5000\n", ""));
  EXPECT_EQ(without.fabric->nodes()[1].system_image_guid, 0x5000U) << "the parentheses tell it apart";
}

TEST(OddForms, AnAdapterGivenByItsPort) {
  const ParsedFabric parsed = parse(replaced(std::string{plain}, "caguid=0x6001", "caguid=0x6002"));
  EXPECT_EQ(difference_to_plain(parsed), "");
  EXPECT_THAT(parsed.warnings,
              ElementsAre(HasSubstr("topo:20: the node is called \"H-0000000000006001\", which "
                                    "holds its GUID, and is given with the GUID of a port")));
}

TEST(OddForms, ATerminalsLogAndAToolsComplaintsBetweenTheLines) {
  std::string text =
      "=~=~=~=~=~=~=~= PuTTY log 2021.02.23 14:02:06 =~=~=~=~=~=~=~=\r\nLast login: Tue Feb 23\r\n"
      "src/query_smp.c:228; umad (DR path slid 0; dlid 0; 0,1) bad status 110\r\n[root@sm ~]# "
      "ibnetdiscover\r\n" +
      replaced(std::string{plain}, "\n", "\r\n");
  text = replaced(text, "lid 2 4xHDR\r\n", "lid 2 4xHDR\r\nibwarn: [4711] mad_rpc: timed out\r\n");
  const ParsedFabric parsed = parse(text);
  EXPECT_EQ(difference_to_plain(parsed), "");
  EXPECT_THAT(parsed.warnings, ElementsAre(HasSubstr("4 lines do not belong to the file")));
}

TEST(OddForms, DamageIsStillAnError) {
  EXPECT_THAT(error_of(std::string{plain} + "Last login: Tue\n"), HasSubstr("topo:22: expected a node"));
  EXPECT_THAT(error_of("Last login: Tue\nnothing else\n"),
              testing::AllOf(HasSubstr("no node is described"), HasSubstr("topo:1: ")));
}

TEST(OddForms, TabsThatWereLost) {
  const ParsedFabric parsed = parse(replaced(std::string{plain}, "\t", ""));
  EXPECT_EQ(difference_to_plain(parsed), "");
  EXPECT_THAT(parsed.warnings, IsEmpty());
}

TEST(OddForms, LineEndsOfOtherSystems) {
  const ParsedFabric parsed = parse(replaced(std::string{plain}, "\n", "\r\n"));
  EXPECT_EQ(difference_to_plain(parsed), "");
  EXPECT_THAT(parsed.warnings, IsEmpty());
}

TEST(OddForms, ANetFileOfIbsim) {
  const ParsedFabric parsed = parse(R"(# by hand
vendid=0x2c9
devid=0xd2f0
sysimgguid=0x5000
switchguid=0x5001
Switch 41 "left" # "Quantum" base port 0 lid 1 lmc 0
[1] "right"[1] w=2 e=4
[2] "host" w=2 e=4

vendid=0x2c9
devid=0xd2f0
sysimgguid=0x5000
switchguid=0x5002
Switch 41 "right" # "Quantum" base port 0 lid 2 lmc 0
[1] "left"[1] w=2 e=4

vendid=0x2c9
devid=0x101b
sysimgguid=0x6000
caguid=0x6001
Ca 1 "host" # "host mlx5_0"
[1](6002) "left"[2] w=2 e=4
)");
  // Which gives ports of adapters no LIDs.
  const ParsedFabric wanted = parse(replaced(std::string{plain}, "# lid 3", "# lid 0"));
  EXPECT_EQ(first_difference(*wanted.fabric, *parsed.fabric), "");
  EXPECT_THAT(parsed.warnings, IsEmpty());
}

TEST(OddForms, Lid65535IsNone) {
  const ParsedFabric parsed = parse(replaced(std::string{plain}, "lid 3", "lid 65535"));
  EXPECT_THAT(parsed.warnings, IsEmpty());
  EXPECT_EQ(parsed.fabric->find_port(PortGuid{0x6002}),
            parsed.fabric->find_port(PortRef{NodeGuid{0x6001}, PortNum{1}}));
  EXPECT_EQ(parsed.fabric->port(parsed.fabric->find_port(PortGuid{0x6002})).lid, no_lid);
}

TEST(OddForms, ACableBackIntoItsSwitchIsKept) {
  const ParsedFabric parsed =
      parse("Switch 4 \"a\"\n[1] \"a\"[2]\n[2] \"a\"[1]\n[3] \"a\"[4]\n[4] \"a\"[3]\n");
  EXPECT_EQ(parsed.fabric->links().size(), 2U);
  EXPECT_THAT(parsed.warnings, ElementsAre(HasSubstr("2 cables have both ends in one switch")));
}

TEST(OddForms, ANodeThatIsMissingIsAWarningWithTheNumberOfItsCables) {
  std::string text{plain};
  text.resize(text.find("vendid=0x2c9\ndevid=0x101b"));
  const ParsedFabric one = parse(text);
  EXPECT_EQ(one.fabric->links().size(), 1U);
  EXPECT_THAT(one.warnings, ElementsAre(HasSubstr("topo:7: the cable leads to \"H-0000000000006001\"")));
  EXPECT_THAT(one.losses, IsEmpty());
  const ParsedFabric two = parse("Switch 4 \"a\"\n[1] \"gone\"[1]\n[2] \"gone\"[2]\n");
  EXPECT_THAT(two.warnings, ElementsAre(HasSubstr("2 cables lead to nodes that are not described")));
}

// A file that loses what it describes is no fabric, unless asked.

struct Losing {
  const char* name;
  const char* text;
  const char* says;
};
void PrintTo(const Losing& losing, std::ostream* out) { *out << losing.name; }

class LosingFiles : public testing::TestWithParam<Losing> {};

TEST_P(LosingFiles, AreRefusedUnlessAskedToGoOn) {
  EXPECT_THAT(error_of(GetParam().text), testing::AllOf(HasSubstr(GetParam().says), HasSubstr("--partial")));
  const auto partial = parse_topology(GetParam().text, "topo", {{}, Losses::Keep});
  ASSERT_TRUE(partial) << partial.error().message;
  EXPECT_THAT(partial->losses, ElementsAre(HasSubstr(GetParam().says)));
}

INSTANTIATE_TEST_SUITE_P(
    , LosingFiles,
    testing::Values(
        Losing{"OneGuid", "switchguid=0x1\nSwitch 4 \"a\"\n\nswitchguid=0x1\nSwitch 4 \"b\"\n",
               "topo:5: two nodes have the GUID 0x0000000000000001: \"a\" on line 2, and \"b\" here"},
        Losing{"OneName", "Switch 4 \"a\"\n\nSwitch 4 \"a\"\n",
               "topo:3: two nodes are called \"a\": one on line 1"},
        Losing{"TwoPeers", "Switch 4 \"a\"\n[1] \"b\"[1]\n[1] \"b\"[2]\n\nSwitch 4 \"b\"\n[1] \"a\"[1]\n",
               "topo:3: port 1 of \"a\" has a cable already"},
        Losing{
            "EndsDisagree",
            "Switch 4 \"a\"\n[1] \"b\"[1]\n\nSwitch 4 \"b\"\n[1] \"c\"[1]\n\nSwitch 4 \"c\"\n[1] \"b\"[1]\n",
            "topo:2: the cable leads to port 1 of \"b\", whose line 5 says otherwise"},
        Losing{"NoSuchPort", "Switch 4 \"a\"\n[1] \"b\"[5]\n\nSwitch 4 \"b\"\n",
               "topo:2: the cable leads to port 5 of \"b\", which has ports 1 to 4"}),
    [](const auto& losing) { return std::string{losing.param.name}; });

// ibdiagnet.lst, made by hand after what writeLstFile of ibutils 1.5.7 puts together. What Debian's ibdiagnet
// writes on a served fabric is read in tests/vm/ports_test.py: it needs the kernel's umad, and dies in
// ibsim's.
constexpr std::string_view link_list =
    "{ CA-SM Ports:01 SystemGUID:0000000000006000 NodeGUID:0000000000006001 PortGUID:0000000000006002 "
    "VenID:000002C9 DevID:101B Rev:000000A1 {host mlx5_0} LID:0003 PN:01 } { SW Ports:29 "
    "SystemGUID:0000000000005000 NodeGUID:0000000000005001 PortGUID:0000000000005001 VenID:000002C9 "
    "DevID:D2F0 "
    "Rev:000000A1 {Quantum} LID:0001 PN:02 } PHY=4x LOG=ACT SPD=50\n"
    "{ SW Ports:29 SystemGUID:0000000000005000 NodeGUID:0000000000005001 PortGUID:0000000000005001 "
    "VenID:000002C9 DevID:D2F0 Rev:000000A1 {Quantum} LID:0001 PN:01 } { SW Ports:29 "
    "SystemGUID:0000000000005000 NodeGUID:0000000000005002 PortGUID:0000000000005002 VenID:000002C9 "
    "DevID:D2F0 "
    "Rev:000000A1 {Quantum} LID:0002 PN:01 } PHY=4x LOG=ACT SPD=50\n";

TEST(LinkList, IsTheSameFabric) {
  const ParsedFabric parsed = parse(std::string{link_list});
  EXPECT_THAT(parsed.warnings, IsEmpty());
  ASSERT_EQ(parsed.fabric->nodes().size(), 3U);
  const Fabric& fabric = *parsed.fabric;
  const ParsedFabric wanted = parse(std::string{plain});
  for (const Node& node : wanted.fabric->nodes()) {
    const NodeIndex index = fabric.find_node(node.guid);
    ASSERT_NE(index, no_node);
    EXPECT_EQ(fabric.node(index).description, node.description);
    EXPECT_EQ(fabric.node(index).port_count, node.port_count);
    EXPECT_EQ(fabric.node(index).type, node.type);
    EXPECT_EQ(fabric.node(index).system_image_guid, node.system_image_guid);
    EXPECT_EQ(fabric.node(index).device_id, node.device_id);
  }
  for (const Link& link : wanted.fabric->links()) {
    const PortIndex a = fabric.find_port(wanted.fabric->ref(link.a));
    ASSERT_NE(a, no_port);
    const auto peer = fabric.peer({fabric.port(a).node, fabric.port(a).num});
    ASSERT_TRUE(peer);
    EXPECT_EQ(fabric.ref(*peer), wanted.fabric->ref(link.b));
    EXPECT_EQ(fabric.port(a).speed, LinkSpeed::Hdr);
    EXPECT_EQ(fabric.port(a).width, LinkWidth::X4);
  }
  EXPECT_EQ(fabric.port(fabric.find_port(Lid{3})).guid, PortGuid{0x6002});
  EXPECT_EQ(fabric.find_port(Lid{2}), fabric.find_port(PortRef{NodeGuid{0x5002}, PortNum{0}}));
}

TEST(LinkList, LinesThatCannotBeReadAreErrors) {
  const auto with = [](const char* what, const char* other) {
    return error_of(replaced(std::string{link_list}, what, other));
  };
  EXPECT_THAT(with("PN:02 }", "PN:02"), HasSubstr("topo:1: expected a brace after an end"));
  EXPECT_THAT(with("SPD=50", "SPD=51"), HasSubstr("topo:1: expected a speed, as in SPD=10"));
  EXPECT_THAT(with("LID:0002", "LID:12345"), HasSubstr("topo:2: expected LID: and a hexadecimal number"));
  EXPECT_THAT(error_of(std::string{link_list} + "{ SW "), HasSubstr("topo:3: expected Ports:NUMBER"));
}

// As published in forums and manuals, shortened.
constexpr std::string_view link_info = R"(Last login: Sat Jun 15 12:39:00 2019
CA: n02 HCA-1:
      0xec0d9a03003d62be      4    1[  ] ==( 4X      25.78125 Gbps Active/  LinkUp)==>       2   17[  ] "MF0;SB7700:MSB7700/U1" ( )
CA: mgt mlx5_0:
      0x248a070300928186      3    1[  ] ==( 4X          10.0 Gbps (FDR10) Active/  LinkUp)==>       2   36[  ] "MF0;SB7700:MSB7700/U1" ( )
Switch: 0x506b4b0300820910 MF0;SB7700:MSB7700/U1:
           2    1[  ] ==(                Down/ Polling)==>             [  ] "" ( )
           2   17[  ] ==( 4X      25.78125 Gbps Active/  LinkUp)==>       4    1[  ] "n02 HCA-1" ( )
           2   36[  ] ==( 4X          10.0 Gbps (FDR10) Active/  LinkUp)==>       3    1[  ] "mgt mlx5_0" ( )
)";

TEST(LinkInfo, IsReadByLids) {
  const ParsedFabric parsed = parse(std::string{link_info});
  const Fabric& fabric = *parsed.fabric;
  EXPECT_EQ(fabric.nodes().size(), 3U);
  EXPECT_EQ(fabric.switch_count(), 1U);
  ASSERT_EQ(fabric.links().size(), 2U);
  const NodeIndex sw = fabric.find_node(NodeGuid{0x506b4b0300820910});
  ASSERT_NE(sw, no_node);
  EXPECT_EQ(fabric.node(sw).port_count, 36);
  EXPECT_EQ(fabric.node(sw).description, "MF0;SB7700:MSB7700/U1");
  const auto host = fabric.peer({sw, PortNum{36}});
  ASSERT_TRUE(host);
  EXPECT_EQ(fabric.node(host->node).description, "mgt mlx5_0");
  EXPECT_EQ(fabric.port(*host).speed, LinkSpeed::Fdr10);
  EXPECT_EQ(fabric.port(*host).lid, Lid{3});
  EXPECT_EQ(fabric.port({sw, PortNum{17}}).speed, LinkSpeed::Edr);
  EXPECT_THAT(parsed.warnings, ElementsAre(HasSubstr("topo:1: passed over"),
                                           HasSubstr("2 nodes are given by the GUID of a port only")));
}

TEST(LinkInfo, OfSwitchesOnlyHasCablesToNodesThatAreNotDescribed) {
  std::string text{link_info};
  text.erase(0, text.find("Switch:"));
  const ParsedFabric parsed = parse(text);
  EXPECT_EQ(parsed.fabric->nodes().size(), 1U);
  EXPECT_THAT(parsed.warnings, ElementsAre(HasSubstr("2 cables lead to nodes that are not described")));
}

TEST(LinkInfo, WithoutLidsSaysWhatToRun) {
  EXPECT_THAT(
      error_of(replaced(std::string{link_info}, "       4    1[  ] \"n02", "       0    1[  ] \"n02")),
      HasSubstr("run iblinkinfo -l or ibnetdiscover"));
  EXPECT_THAT(error_of(std::string{link_info} + "Segmentation fault\n"),
              HasSubstr("topo:10: expected a node"));
}

TEST(LinkInfo, InLinesIsReadByGuids) {
  const ParsedFabric parsed = parse(
      "0xf452140300f55051 \"              ib-test-7 mlx4_0\"     37    1[  ] ==( 4X       14.0625 Gbps "
      "Active/  "
      "LinkUp)==>  0xf45214030067c630      5   16[  ] \"MF0;switch-e1be74:SX6036/U1\" ( )\n"
      "0xf45214030067c630 \"   MF0;switch-e1be74:SX6036/U1\"      5   16[  ] ==( 4X       14.0625 Gbps "
      "Active/  "
      "LinkUp)==>  0xf452140300f55051     37    1[  ] \"ib-test-7 mlx4_0\" ( )\n"
      "0xf45214030067c630 \"   MF0;switch-e1be74:SX6036/U1\"      5   36[  ] ==(                Down/ "
      "Polling)==>"
      "             [  ] \"\" ( )\n");
  const Fabric& fabric = *parsed.fabric;
  ASSERT_EQ(fabric.links().size(), 1U);
  EXPECT_EQ(fabric.switch_count(), 1U);
  const NodeIndex sw = fabric.find_node(NodeGuid{0xf45214030067c630});
  EXPECT_EQ(fabric.node(sw).description, "MF0;switch-e1be74:SX6036/U1");
  EXPECT_EQ(fabric.node(sw).port_count, 36);
  EXPECT_EQ(fabric.node(fabric.peer({sw, PortNum{16}})->node).description, "ib-test-7 mlx4_0");
  EXPECT_EQ(fabric.links()[0].speed, LinkSpeed::Fdr);
}

}  // namespace
}  // namespace heddle
