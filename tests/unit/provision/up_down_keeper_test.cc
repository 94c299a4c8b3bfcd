#include "provision/up_down_keeper.h"

#include <gtest/gtest.h>

#include "fabric/generators.h"
#include "routing/link_set.h"

namespace heddle::provision {
namespace {

/// A copy without one cable.
std::shared_ptr<const Fabric> without(const Fabric& fabric, LinkIndex gone) {
  FabricBuilder builder;
  for (const Node& node : fabric.nodes()) {
    const NodeIndex index = *builder.add_node(node);
    for (unsigned p = 0; p <= node.port_count; ++p) {
      EXPECT_TRUE(builder.set_port(index, fabric.port(PortIndex{node.first_port.raw() + p})));
    }
  }
  for (std::uint32_t i = 0; i < fabric.links().size(); ++i) {
    const Link& link = fabric.link(LinkIndex{i});
    if (LinkIndex{i} == gone) continue;
    EXPECT_TRUE(builder.add_link(link.a, link.b, link.width, link.speed));
  }
  return builder.build();
}

class UpDownKeeperTest : public testing::Test {
 protected:
  std::shared_ptr<const Fabric> full = assign_lids(**generate("tree:k=4,n=3"), 0).value();
  UpDownKeeper keeper;

  [[nodiscard]] LinkIndex a_switch_link() const {
    for (std::uint32_t i = 0; i < full->links().size(); ++i) {
      const Link& link = full->link(LinkIndex{i});
      if (full->node(link.a.node).type == NodeType::Switch &&
          full->node(link.b.node).type == NodeType::Switch) {
        return LinkIndex{i};
      }
    }
    return no_link;
  }
};

TEST_F(UpDownKeeperTest, ALinkThatGoesKeepsTheOrderAndComesBackToTheSameTables) {
  const auto before = keeper.route(*full);
  ASSERT_TRUE(before) << before.error().message;
  const LinkIndex gone = a_switch_link();
  const auto during = keeper.route(*without(*full, gone));
  ASSERT_TRUE(during);

  auto reference = routing::UpDownRouter::make(*full);
  ASSERT_TRUE(reference);
  auto rest = routing::LinkSet::all(*full);
  rest.erase(gone);
  reference->update(rest);
  EXPECT_EQ(*during, reference->tables());
  EXPECT_NE(*during, *before);

  const auto after = keeper.route(*full);
  ASSERT_TRUE(after);
  EXPECT_EQ(*after, *before);
  EXPECT_EQ(keeper.beginnings(), 1U);
}

TEST_F(UpDownKeeperTest, AnotherFabricBeginsAnew) {
  ASSERT_TRUE(keeper.route(*full));
  ASSERT_TRUE(keeper.route(**assign_lids(**generate("torus:4x4,hosts=2"))));
  EXPECT_EQ(keeper.beginnings(), 2U);
  // A cable that the kept snapshot has not is news too.
  const auto lacking = without(*full, a_switch_link());
  ASSERT_TRUE(keeper.route(*lacking));
  ASSERT_TRUE(keeper.route(*full));
  EXPECT_EQ(keeper.beginnings(), 4U);
}

TEST_F(UpDownKeeperTest, OtherLidsBeginAnew) {
  ASSERT_TRUE(keeper.route(*full));
  ASSERT_TRUE(keeper.route(**assign_lids(*full, 1)));
  EXPECT_EQ(keeper.beginnings(), 2U);
}

}  // namespace
}  // namespace heddle::provision
