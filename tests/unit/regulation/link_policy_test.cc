#include "regulation/link_policy.h"

#include <gtest/gtest.h>

#include "fabric/generators.h"
#include "regulation/topology.h"

namespace heddle::regulation {
namespace {

std::shared_ptr<const Fabric> torus_fabric() { return *assign_lids(**generate("torus:3x3,hosts=1,links=2")); }

std::size_t count(const std::vector<Exempt>& exempt, Exempt what) {
  return static_cast<std::size_t>(std::count(exempt.begin(), exempt.end(), what));
}

LinkRef switch_link(const Fabric& fabric) {
  for (const Link& link : fabric.links()) {
    if (fabric.node(link.a.node).type == NodeType::Switch &&
        fabric.node(link.b.node).type == NodeType::Switch)
      return link_ref(fabric, link);
  }
  return {};
}

TEST(LinkPolicyTest, HostLinksAreNeverRegulated) {
  const auto fabric = torus_fabric();
  const auto exempt = exemptions(*fabric, {}, {}, {});
  EXPECT_EQ(count(exempt, Exempt::HostLink), 9U);
  EXPECT_EQ(count(exempt, Exempt::No), 36U);
}

TEST(LinkPolicyTest, PinsOverridesAndTroublesExempt) {
  const auto fabric = torus_fabric();
  const LinkRef link = switch_link(*fabric);
  PolicyOptions options;
  options.pinned.insert(link);
  EXPECT_EQ(count(exemptions(*fabric, options, {}, {}), Exempt::Pinned), 1U);
  EXPECT_EQ(count(exemptions(*fabric, {}, {{link, {Wish::On, "", "", {}}}}, {}), Exempt::KeptOn), 1U);
  EXPECT_EQ(count(exemptions(*fabric, {}, {{link, {Wish::Off, "", "", {}}}}, {}), Exempt::KeptOn), 0U);
  EXPECT_EQ(count(exemptions(*fabric, {}, {}, {{link, {Trouble::Flapping, "5 times"}}}), Exempt::Flapping),
            1U);
}

TEST(LinkPolicyTest, ALinkOfAnotherCableIsNotMeant) {
  const auto fabric = torus_fabric();
  LinkRef wrong = switch_link(*fabric);
  wrong.b.port = PortNum{200};
  PolicyOptions options;
  options.pinned.insert(wrong);
  EXPECT_EQ(count(exemptions(*fabric, options, {}, {}), Exempt::Pinned), 0U);
}

TEST(LinkPolicyTest, LinksInsideAChassisAreKeptUnlessToldOtherwise) {
  FabricBuilder builder;
  for (std::uint64_t i = 0; i < 2; ++i) {
    Node node;
    node.guid = NodeGuid{i + 1};
    node.type = NodeType::Switch;
    node.port_count = 2;
    node.system_image_guid = 77;
    ASSERT_TRUE(builder.add_node(node));
  }
  ASSERT_TRUE(builder.add_link({NodeIndex{0}, PortNum{1}}, {NodeIndex{1}, PortNum{1}}, LinkWidth::X4,
                               LinkSpeed::Hdr));
  const auto fabric = builder.build();
  EXPECT_EQ(exemptions(*fabric, {}, {}, {})[0], Exempt::Internal);
  EXPECT_EQ(exemptions(*fabric, {Chassis::Regulate, {}}, {}, {})[0], Exempt::No);
}

TEST(TopologyTest, WhatIsOffIsPutBack) {
  const auto full = torus_fabric();
  const LinkRef gone = switch_link(*full);
  FabricBuilder builder;
  for (const Node& node : full->nodes()) ASSERT_TRUE(builder.add_node(node));
  for (const Port& port : full->ports()) {
    Port copy = port;
    if (full->ref(full->port_index(port.node, port.num)) == gone.a ||
        full->ref(full->port_index(port.node, port.num)) == gone.b) {
      copy.state = PortState::Down;
      copy.physical = PhysState::Disabled;
      copy.width = LinkWidth::None;
      copy.speed = LinkSpeed::None;
    }
    ASSERT_TRUE(builder.set_port(port.node, copy));
  }
  for (const Link& link : full->links()) {
    if (link_ref(*full, link) != gone) {
      ASSERT_TRUE(builder.add_link(link.a, link.b, link.width, link.speed));
    }
  }
  const auto seen = builder.build(5);
  const AbsentLink absent{gone, {LinkWidth::X4, LinkSpeed::Hdr}};
  const auto again = with_links(seen, std::span(&absent, 1));
  EXPECT_EQ(again->epoch(), 5U);
  ASSERT_EQ(again->links().size(), full->links().size());
  const Port& port = again->port(again->find_port(gone.a));
  EXPECT_EQ(port.state, PortState::Down);
  EXPECT_EQ(port.physical, PhysState::Disabled);
  EXPECT_EQ(again->link(port.link).speed, LinkSpeed::Hdr);
  // Nothing to add: the very same snapshot.
  EXPECT_EQ(with_links(full, std::span(&absent, 1)), full);
}

}  // namespace
}  // namespace heddle::regulation
