#include "fabric/planes.h"

#include <gtest/gtest.h>

#include <string>

namespace heddle {
namespace {

class PlanesTest : public ::testing::Test {
 protected:
  /// A housing of as many switches of four ports each; the GUIDs come in reverse, so that order matters.
  std::vector<NodeIndex> system(std::uint64_t image, unsigned switches) {
    std::vector<NodeIndex> nodes;
    for (unsigned i = switches; i > 0; --i) {
      Node node;
      node.guid = NodeGuid{image * 16 + i};
      node.type = NodeType::Switch;
      node.port_count = 4;
      node.system_image_guid = image;
      nodes.insert(nodes.begin(), *builder.add_node(node));
    }
    return nodes;
  }
  NodeIndex adapter(std::uint64_t guid, std::uint8_t ports) {
    Node node;
    node.guid = NodeGuid{guid};
    node.port_count = ports;
    return *builder.add_node(node);
  }
  void cable(NodeIndex a, unsigned p, NodeIndex b, unsigned q, LinkSpeed speed = LinkSpeed::Xdr) {
    ASSERT_TRUE(builder.add_link({a, PortNum{static_cast<std::uint8_t>(p)}},
                                 {b, PortNum{static_cast<std::uint8_t>(q)}}, LinkWidth::X1, speed));
  }
  [[nodiscard]] std::optional<Plane> plane(NodeIndex node, unsigned port) {
    if (!fabric) fabric = builder.build();
    return Planes{*fabric}.of(fabric->port(LinkEnd{node, PortNum{static_cast<std::uint8_t>(port)}}).link);
  }

  FabricBuilder builder;
  std::shared_ptr<const Fabric> fabric;
};

TEST_F(PlanesTest, LinksOfOnePortOfTwoHousings) {
  const auto leaf = system(1, 4);
  const auto spine = system(2, 4);
  for (unsigned i = 0; i < 4; ++i) cable(leaf[i], 1, spine[i], 3);
  EXPECT_EQ(plane(leaf[0], 1), (Plane{1, 4}));
  EXPECT_EQ(plane(leaf[3], 1), (Plane{4, 4}));
  EXPECT_EQ(plane(spine[2], 3), (Plane{3, 4}));
}

TEST_F(PlanesTest, LinksOfAnAdapter) {
  const auto leaf = system(1, 2);
  const NodeIndex host = adapter(100, 2);
  cable(host, 1, leaf[0], 2);
  cable(host, 2, leaf[1], 2);
  EXPECT_EQ(plane(host, 2), (Plane{2, 2}));
}

TEST_F(PlanesTest, NotWhereAnythingElseIsMeant) {
  const auto chassis = system(1, 2);  // a director: its chips have cables of their own
  const auto spine = system(2, 2);
  const NodeIndex host = adapter(100, 1);
  const NodeIndex other = adapter(101, 1);
  cable(chassis[0], 1, spine[0], 1);
  cable(chassis[1], 1, spine[1], 2);
  cable(chassis[0], 2, spine[1], 3);
  cable(chassis[1], 2, spine[0], 3);
  cable(chassis[0], 3, host, 1);
  cable(chassis[1], 3, other, 1);
  cable(chassis[0], 4, spine[0], 4, LinkSpeed::Ndr);
  cable(chassis[1], 4, spine[1], 4, LinkSpeed::Ndr);
  for (unsigned port = 1; port <= 4; ++port) EXPECT_EQ(plane(chassis[0], port), std::nullopt) << port;
}

}  // namespace
}  // namespace heddle
