#include "cabling/check.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "fabric/generators.h"
#include "fabric/topology.h"

namespace heddle::cabling {
namespace {

using testing::HasSubstr;

/// A switch with a host, a director of one leaf board and one spine board with a cable between them, and a
/// host of two adapters.
constexpr const char* director = R"(
switchguid=0x10(10)
Switch	41 "S-0000000000000010"		# "MF0;edge-20ib0:MQM8700/U1" enhanced port 0 lid 1 lmc 0
[1]	"H-0000000000000100"[1](101) 		# "Node1 ibp11s0f0" lid 5 4xHDR
[2]	"H-0000000000000200"[1](201) 		# "Node1 ibp21s0f0" lid 6 4xHDR
[21]	"S-0000000000000020"[20]		# "MF0;dir-01ib1-A:MCS8500/L16/U2" lid 2 4xHDR
[22]	"S-0000000000000021"[20]		# "MF0;dir-01ib1-A:MCS8500/L17/U1" lid 3 4xHDR
[41]	"H-0000000000000900"[1](901) 		# "Mellanox Technologies Aggregation Node" lid 9 4xHDR

switchguid=0x20(20)
Switch	41 "S-0000000000000020"		# "MF0;dir-01ib1-A:MCS8500/L16/U2" enhanced port 0 lid 2 lmc 0
[20]	"S-0000000000000010"[21]		# "MF0;edge-20ib0:MQM8700/U1" lid 1 4xHDR
[30]	"S-0000000000000030"[1]		# "MF0;dir-01ib1-A:MCS8500/S1/U1" lid 4 4xHDR

switchguid=0x21(21)
Switch	41 "S-0000000000000021"		# "MF0;dir-01ib1-A:MCS8500/L17/U1" enhanced port 0 lid 3 lmc 0
[20]	"S-0000000000000010"[22]		# "MF0;edge-20ib0:MQM8700/U1" lid 1 4xHDR
[30]	"S-0000000000000030"[2]		# "MF0;dir-01ib1-A:MCS8500/S1/U1" lid 4 4xHDR

switchguid=0x30(30)
Switch	41 "S-0000000000000030"		# "MF0;dir-01ib1-A:MCS8500/S1/U1" enhanced port 0 lid 4 lmc 0
[1]	"S-0000000000000020"[30]		# "MF0;dir-01ib1-A:MCS8500/L16/U2" lid 2 4xHDR
[2]	"S-0000000000000021"[30]		# "MF0;dir-01ib1-A:MCS8500/L17/U1" lid 3 4xHDR

caguid=0x100
Ca	1 "H-0000000000000100"		# "Node1 ibp11s0f0"
[1](101) 	"S-0000000000000010"[1]		# lid 5 lmc 0 "MF0;edge-20ib0:MQM8700/U1" lid 1 4xHDR

caguid=0x200
Ca	1 "H-0000000000000200"		# "Node1 ibp21s0f0"
[1](201) 	"S-0000000000000010"[2]		# lid 6 lmc 0 "MF0;edge-20ib0:MQM8700/U1" lid 1 4xHDR

caguid=0x900
Ca	1 "H-0000000000000900"		# "Mellanox Technologies Aggregation Node"
[1](901) 	"S-0000000000000010"[41]		# lid 9 lmc 0 "MF0;edge-20ib0:MQM8700/U1" lid 1 4xHDR
)";

class CableLists : public testing::Test {
 protected:
  Result<CableCheck> check(const std::string& lines) {
    const auto plan = parse_cable_list("StartDevice,StartPort,EndDevice,EndPort,Speed\n" + lines, "plan.csv");
    if (!plan) return fail(plan.error());
    return check_cables(*plan, *fabric);
  }
  CableCheck good(const std::string& lines) {
    const auto result = check(lines);
    EXPECT_TRUE(result) << result.error().message;
    return result ? *result : CableCheck{};
  }
  std::string refused(const std::string& lines) {
    const auto result = check(lines);
    return result ? "read" : result.error().message;
  }

  const std::string hosts = "NODE1,NODE1 ibp11s0f0,EDGE-20IB0,Port 1\nnode1,ibp21s0f0,edge-20ib0,2\n";
  const std::string boards =
      "EDGE-20IB0,Port 21,DIR-01IB1-A,Blade 16_Port 2/20\nedge-20ib0,Port 22,dir-01ib1-a,Blade 17_Port "
      "1/20\n";
  const std::shared_ptr<const Fabric> fabric = parse_topology(director, "director").value().fabric;
};

TEST_F(CableLists, WordsOfListsAreUnderstood) {
  const CableCheck result = good(hosts + boards);
  EXPECT_TRUE(result.same());
  EXPECT_EQ(result.planned, 4U);
  EXPECT_EQ(result.as_planned, 4U);
}

TEST_F(CableLists, ACableMayStandThereFromBothEnds) {
  const CableCheck result = good(hosts + boards + "dir-01ib1-a,Blade 16_Port 2/20,edge-20ib0,Port 21\n");
  EXPECT_TRUE(result.same());
  EXPECT_EQ(result.planned, 4U);
}

TEST_F(CableLists, GuidsAndFullNamesAreDevicesToo) {
  EXPECT_TRUE(
      good("0x100,1,0x0000000000000010,1\nNode1 ibp21s0f0,1,MF0;edge-20ib0:MQM8700/U1,2\n" + boards).same());
}

TEST_F(CableLists, ExchangedPlugsAreASwap) {
  const CableCheck result = good(hosts +
                                 "edge-20ib0,Port 22,dir-01ib1-a,Blade 16_Port 2/20\nedge-20ib0,Port "
                                 "21,dir-01ib1-a,Blade 17_Port 1/20\n");
  ASSERT_EQ(result.swapped.size(), 2U);
  EXPECT_TRUE(result.missing.empty());
  EXPECT_TRUE(result.unexpected.empty());
  EXPECT_EQ(result.swapped[0].line, 4U);
  EXPECT_EQ(result.swapped[0].start.text(), "MF0;edge-20ib0:MQM8700/U1/22");
  EXPECT_EQ(result.swapped[0].expected, "MF0;dir-01ib1-A:MCS8500/L16/U2/20");
  EXPECT_EQ(result.swapped[0].actual, "MF0;dir-01ib1-A:MCS8500/L17/U1/20");
  EXPECT_EQ(result.swapped[0].start.guid, NodeGuid{0x10});
}

TEST_F(CableLists, SwapsAreFoundWhicheverEndIsTheStart) {
  const CableCheck result = good(hosts +
                                 "dir-01ib1-a,Blade 16_Port 2/20,edge-20ib0,Port 22\nedge-20ib0,Port "
                                 "21,dir-01ib1-a,Blade 17_Port 1/20\n");
  EXPECT_EQ(result.swapped.size(), 2U);
}

TEST_F(CableLists, WhatIsNotThereIsMissing) {
  const CableCheck result = good(hosts + boards +
                                 "edge-20ib0,Port 23,new-switch,Port 1\nedge-20ib0,24,edge-20ib0,25\n"
                                 "edge-20ib0,26,edge-20ib0,99\n");
  ASSERT_EQ(result.missing.size(), 3U);
  EXPECT_EQ(result.missing[0].end.node, "new-switch");
  EXPECT_FALSE(result.missing[0].end.guid);
  EXPECT_EQ(result.missing[0].line, 6U);
  EXPECT_EQ(result.missing[0].actual, "");
  EXPECT_EQ(result.missing[2].end.guid, NodeGuid{0x10});
  EXPECT_FALSE(result.missing[2].end.number);
}

/// As at a site whose host had another adapter in that port.
TEST_F(CableLists, AnAdapterThatAHostHasNotIsMissing) {
  const CableCheck result =
      good("node1,node1 ibp11s0f1,edge-20ib0,1\nnode1,ibp21s0f0,edge-20ib0,2\n" + boards);
  ASSERT_EQ(result.missing.size(), 1U);
  EXPECT_EQ(result.missing[0].start.port, "node1 ibp11s0f1");
  EXPECT_FALSE(result.missing[0].start.guid);
  EXPECT_EQ(result.missing[0].actual, "Node1 ibp11s0f0/1");
  EXPECT_EQ(result.unexpected.size(), 1U);
}

TEST_F(CableLists, WhatIsNotPlannedIsUnexpectedButForInnerLinks) {
  const CableCheck result = good(hosts + "edge-20ib0,Port 21,dir-01ib1-a,Blade 16_Port 2/20\n");
  ASSERT_EQ(result.unexpected.size(), 1U);
  EXPECT_EQ(result.unexpected[0].start.text(), "MF0;edge-20ib0:MQM8700/U1/22");
  EXPECT_EQ(result.unexpected[0].expected, "");
  EXPECT_EQ(result.unexpected[0].line, 0U);
}

TEST_F(CableLists, APlugInTheWrongPlaceIsMissingAndUnexpected) {
  const CableCheck result = good(hosts +
                                 "edge-20ib0,Port 21,dir-01ib1-a,Blade 16_Port 2/20\n"
                                 "edge-20ib0,Port 22,dir-01ib1-a,Blade 17_Port 1/21\n");
  ASSERT_EQ(result.missing.size(), 1U);
  EXPECT_EQ(result.missing[0].actual, "MF0;dir-01ib1-A:MCS8500/L17/U1/20");
  EXPECT_EQ(result.unexpected.size(), 1U);
  EXPECT_TRUE(result.swapped.empty());
}

TEST_F(CableLists, RatesAreCompared) {
  const CableCheck result = good(hosts +
                                 "edge-20ib0,Port 21,dir-01ib1-a,Blade 16_Port 2/20,400000\n"
                                 "edge-20ib0,Port 22,dir-01ib1-a,Blade 17_Port 1/20,200G\n");
  ASSERT_EQ(result.wrong_rate.size(), 1U);
  EXPECT_EQ(result.wrong_rate[0].expected, "4xNDR");
  EXPECT_EQ(result.wrong_rate[0].actual, "4xHDR");
  EXPECT_EQ(result.as_planned, 3U);
}

TEST_F(CableLists, ContradictionsAndRiddlesAreRefusedWithTheirLines) {
  EXPECT_THAT(refused(hosts + "edge-20ib0,2,edge-20ib0,30\n"),
              testing::AllOf(HasSubstr("plan.csv:4: MF0;edge-20ib0:MQM8700/U1/2 has a cable to "),
                             HasSubstr("Node1 ibp21s0f0/1 in line 3 already")));
  EXPECT_THAT(refused("node1,1,edge-20ib0,1\n"),
              HasSubstr("2 nodes are \"node1\": say which, as in Node1 ibp11s0f0"));
  EXPECT_THAT(refused("edge-20ib0,abra,edge-20ib0,cadabra\n"),
              HasSubstr("\"abra\" of \"edge-20ib0\" is no port"));
}

TEST(CheckCables, AFabricIsAsItself) {
  for (const char* spec : {"tree:k=3,n=3", "torus:4x4,hosts=2,links=2", "grown:seed=7,hosts=200"}) {
    const auto fabric = generate(spec).value();
    const CableCheck result = check_cables(plan_of(*fabric, spec), *fabric).value();
    EXPECT_TRUE(result.same()) << spec;
    EXPECT_EQ(result.as_planned, fabric->links().size());
  }
}

/// Other GUIDs: switches that were replaced keep their names.
TEST(CheckCables, PlansOfReplacedHardwareMatchByName) {
  const auto built = generate("torus:3x3,hosts=1").value();
  FabricBuilder again;
  for (Node node : built->nodes()) {
    node.guid = NodeGuid{node.guid.raw() + 0x5000};
    ASSERT_TRUE(again.add_node(node));
  }
  for (const Link& link : built->links()) ASSERT_TRUE(again.add_link(link.a, link.b, link.width, link.speed));
  EXPECT_TRUE(check_cables(plan_of(*built, "plan"), *again.build()).value().same());
}

TEST(CheckCables, ThreeInACircleAreSwappedToo) {
  const auto plan =
      parse_cable_list("StartDevice,StartPort,EndDevice,EndPort\na,1,x,1\na,2,x,2\na,3,x,3\n", "plan.csv");
  FabricBuilder builder;
  Node node;
  node.type = NodeType::Switch;
  node.port_count = 8;
  node.guid = NodeGuid{1};
  node.description = "a";
  const NodeIndex a = builder.add_node(node).value();
  node.guid = NodeGuid{2};
  node.description = "x";
  const NodeIndex x = builder.add_node(node).value();
  for (const auto& [from, to] : {std::pair{1, 2}, std::pair{2, 3}, std::pair{3, 1}}) {
    ASSERT_TRUE(builder.add_link({a, PortNum{static_cast<std::uint8_t>(from)}},
                                 {x, PortNum{static_cast<std::uint8_t>(to)}}, LinkWidth::X4, LinkSpeed::Hdr));
  }
  const CableCheck result = check_cables(*plan, *builder.build()).value();
  EXPECT_EQ(result.swapped.size(), 3U);
  EXPECT_TRUE(result.unexpected.empty());
}

}  // namespace
}  // namespace heddle::cabling
