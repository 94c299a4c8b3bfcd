/// Rates of one snapshot in another.
#include <gtest/gtest.h>

#include "fabric/generators.h"
#include "fabric/rates.h"

namespace heddle {
namespace {

/// The same fabric, with its first link at 1x, and in this state at both ends.
std::shared_ptr<const Fabric> narrowed(const Fabric& fabric, PortState state) {
  const Link& first = fabric.link(LinkIndex{0});
  FabricBuilder builder;
  for (std::uint32_t n = 0; n < fabric.nodes().size(); ++n) {
    const Node& node = fabric.nodes()[n];
    const NodeIndex index = builder.add_node(node).value();
    for (unsigned p = 0; p <= node.port_count; ++p) {
      Port port = fabric.port(PortIndex{node.first_port.raw() + p});
      const LinkEnd end{NodeIndex{n}, PortNum{static_cast<std::uint8_t>(p)}};
      if (end == first.a || end == first.b) port.state = state;
      (void)builder.set_port(index, port);
    }
  }
  for (const Link& link : fabric.links()) {
    const bool is_first = link.a == first.a;
    (void)builder.add_link(link.a, link.b, is_first ? LinkWidth::X1 : link.width, link.speed);
  }
  return builder.build();
}

TEST(Rates, OfAnActiveLinkAreTakenOver) {
  const auto fabric = *assign_lids(**generate("tree:k=2,n=2"), 0);
  const auto seen = narrowed(*fabric, PortState::Active);
  const auto now = at_rates_of(*seen, fabric);
  ASSERT_NE(now, fabric);
  EXPECT_EQ(now->link(LinkIndex{0}).width, LinkWidth::X1);
  EXPECT_EQ(now->port(now->link(LinkIndex{0}).b).width, LinkWidth::X1);
  EXPECT_EQ(now->link(LinkIndex{1}).width, LinkWidth::X4);
  EXPECT_EQ(now->port(fabric->port_index(fabric->link(LinkIndex{0}).a)).lid,
            fabric->port(fabric->port_index(fabric->link(LinkIndex{0}).a)).lid);
  EXPECT_EQ(at_rates_of(*fabric, now)->link(LinkIndex{0}).width, LinkWidth::X4) << "and back";
}

TEST(Rates, OfALinkThatTrainsAreNobodys) {
  const auto fabric = *generate("tree:k=2,n=2");
  EXPECT_EQ(at_rates_of(*narrowed(*fabric, PortState::Down), fabric), fabric);
  EXPECT_EQ(at_rates_of(*fabric, fabric), fabric);
  EXPECT_EQ(at_rates_of(**generate("torus:2x2,hosts=1"), fabric), fabric) << "another fabric";
}

}  // namespace
}  // namespace heddle
