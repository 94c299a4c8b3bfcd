#include "fabric/fabric.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace heddle {
namespace {

Node a_switch(std::uint64_t guid, std::uint8_t ports) {
  Node node;
  node.guid = NodeGuid{guid};
  node.type = NodeType::Switch;
  node.port_count = ports;
  node.description = "switch";
  return node;
}

LinkEnd end(NodeIndex node, std::uint8_t port) { return {node, PortNum{port}}; }

class FabricBuilderTest : public testing::Test {
 protected:
  FabricBuilder builder;
  NodeIndex a = *builder.add_node(a_switch(0xa, 4));
  NodeIndex b = *builder.add_node(a_switch(0xb, 4));
};

TEST_F(FabricBuilderTest, PeersOfACable) {
  ASSERT_TRUE(builder.add_link(end(b, 3), end(a, 1), LinkWidth::X4, LinkSpeed::Hdr));
  const auto fabric = builder.build(7);
  EXPECT_EQ(fabric->epoch(), 7U);
  EXPECT_EQ(fabric->peer(end(a, 1)), end(b, 3));
  EXPECT_EQ(fabric->peer(end(b, 3)), end(a, 1));
  EXPECT_EQ(fabric->peer(end(a, 2)), std::nullopt);
  EXPECT_EQ(fabric->port(end(a, 1)).state, PortState::Active);
  EXPECT_EQ(fabric->port(end(a, 2)).state, PortState::Down);
}

TEST_F(FabricBuilderTest, ACableFromASwitchToItself) {
  ASSERT_TRUE(builder.add_link(end(a, 2), end(a, 1), LinkWidth::X4, LinkSpeed::Hdr));
  EXPECT_EQ(builder.build()->peer(end(a, 1)), end(a, 2));
}

TEST_F(FabricBuilderTest, RefusesTwoNodesWithOneGuid) {
  const auto twin = builder.add_node(a_switch(0xa, 2));
  ASSERT_FALSE(twin);
  EXPECT_EQ(twin.error().code, ErrorCode::Conflict);
  EXPECT_THAT(twin.error().message, testing::HasSubstr("0x000000000000000a"));
}

TEST_F(FabricBuilderTest, RefusesAPortThatIsNotThere) {
  const auto link = builder.add_link(end(a, 5), end(b, 1), LinkWidth::X4, LinkSpeed::Hdr);
  ASSERT_FALSE(link);
  EXPECT_THAT(link.error().message, testing::HasSubstr("port 5"));
}

TEST_F(FabricBuilderTest, RefusesACableAtPort0) {
  const auto link = builder.add_link(end(a, 0), end(b, 1), LinkWidth::X4, LinkSpeed::Hdr);
  ASSERT_FALSE(link);
  EXPECT_EQ(link.error().code, ErrorCode::Invalid);
  EXPECT_EQ(builder.build()->port(end(b, 1)).link, no_link);
}

TEST_F(FabricBuilderTest, RefusesASecondCableAndAPortOnItself) {
  ASSERT_TRUE(builder.add_link(end(a, 1), end(b, 1), LinkWidth::X4, LinkSpeed::Hdr));
  EXPECT_FALSE(builder.add_link(end(a, 1), end(b, 2), LinkWidth::X4, LinkSpeed::Hdr));
  EXPECT_FALSE(builder.add_link(end(a, 3), end(a, 3), LinkWidth::X4, LinkSpeed::Hdr));
}

TEST_F(FabricBuilderTest, EveryLidOfAPortFindsIt) {
  Port port0;
  port0.num = PortNum{0};
  port0.lid = Lid{8};
  port0.lmc = 2;
  ASSERT_TRUE(builder.set_port(a, port0));
  const auto fabric = builder.build();
  for (std::uint16_t lid = 8; lid < 12; ++lid) {
    EXPECT_EQ(fabric->find_port(Lid{lid}), fabric->port_index(end(a, 0)));
  }
  EXPECT_EQ(fabric->find_port(Lid{12}), no_port);
}

TEST(LinkRate, DataRatesOfTheSpecification) {
  EXPECT_DOUBLE_EQ(data_rate(LinkWidth::X4, LinkSpeed::Qdr).value(), 32e9);
  EXPECT_DOUBLE_EQ(data_rate(LinkWidth::X4, LinkSpeed::Hdr).value(), 200e9);
  EXPECT_DOUBLE_EQ(data_rate(LinkWidth::X1, LinkSpeed::Sdr).value(), 2e9);
}

}  // namespace
}  // namespace heddle
