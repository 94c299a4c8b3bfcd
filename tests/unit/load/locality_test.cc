#include "load/locality.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "fabric/generators.h"
#include "load/switch_graph.h"

namespace heddle::load {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::SizeIs;

std::shared_ptr<const Fabric> make(std::string_view spec) { return *generate(spec); }

std::size_t sets_of(const LocalitySets& sets, std::string_view prefix) {
  return static_cast<std::size_t>(
      std::ranges::count_if(*sets.names(), [&](const auto& name) { return name.starts_with(prefix); }));
}

TEST(FindTiers, LevelsOfAThreeLevelTree) {
  const auto fabric = make("tree:k=2,n=3");
  const auto tiers = find_tiers(*fabric, switch_neighbours(*fabric));
  ASSERT_TRUE(tiers);
  EXPECT_EQ(tiers->top, 2);
  for (int level = 0; level < 3; ++level) EXPECT_EQ(std::ranges::count(tiers->level, level), 4);
}

TEST(FindTiers, ATorusHasNone) {
  const auto fabric = make("torus:4x4,hosts=2,links=1");
  EXPECT_FALSE(find_tiers(*fabric, switch_neighbours(*fabric)));
  EXPECT_FALSE(find_tree(*fabric, switch_neighbours(*fabric)));
  EXPECT_TRUE(LocalitySets::find(*fabric, {})->names()->empty());
}

TEST(LocalitySetsTest, PodsOfAFatTreeAreFound) {
  // Four pods of four leaves, under four top switches per position.
  const auto fabric = make("tree:k=4,n=3");
  const auto sets = LocalitySets::find(*fabric, {});
  EXPECT_EQ(sets_of(*sets, "leaf/"), 16U) << "one leaf is no pod";
  EXPECT_EQ(sets_of(*sets, "pod1/"), 4U);
  EXPECT_EQ(sets->names()->size(), 20U);
}

TEST(LocalitySetsTest, EverySwitchOfATreeIsTheRootOfASubtree) {
  const auto fabric = make("xgft:2;4,3;1,1");
  const auto sets = LocalitySets::find(*fabric, {});
  EXPECT_EQ(sets_of(*sets, "subtree/"), 4U);
}

// A host sends to another on the same leaf, and as much to another pod: half of it is local to the leaf.
TEST(LocalitySetsTest, LocalityOfPodsIsThatOfTheFormulas) {
  const auto fabric = make("tree:k=2,n=3");
  const auto sets = LocalitySets::find(*fabric, {});
  std::vector<PortSample> ports(fabric->ports().size());
  for (PortSample& port : ports) port.xmit_bytes_per_second = port.rcv_bytes_per_second = 0;
  const auto tiers = *find_tiers(*fabric, switch_neighbours(*fabric));

  // Hop by hop from a host: up through the first upward ports.
  const auto is_host = [&](NodeIndex n) { return fabric->node(n).type != NodeType::Switch; };
  const auto level = [&](NodeIndex n) { return is_host(n) ? -1 : tiers.level[n.raw()]; };
  const auto hop_up = [&](NodeIndex from, float bytes) {
    for (int p = 1; p <= fabric->node(from).port_count; ++p) {
      const LinkEnd end{from, PortNum{static_cast<std::uint8_t>(p)}};
      const auto peer = fabric->peer(end);
      if (!peer || level(peer->node) <= level(from)) continue;
      ports[fabric->port_index(end).raw()].xmit_bytes_per_second += bytes;
      ports[fabric->port_index(*peer).raw()].rcv_bytes_per_second += bytes;
      return peer->node;
    }
    return no_node;
  };
  NodeIndex host = no_node;
  for (std::uint32_t i = 0; i < fabric->nodes().size() && host == no_node; ++i) {
    if (is_host(NodeIndex{i})) host = NodeIndex{i};
  }
  const NodeIndex leaf = hop_up(host, 200);
  const NodeIndex middle = hop_up(leaf, 100);
  hop_up(middle, 100);

  std::vector<SetLocality> result;
  sets->evaluate(*fabric, ports, result);
  ASSERT_EQ(result.size(), sets->names()->size());
  const auto of = [&](const std::string& name) {
    const auto found = std::ranges::find(*sets->names(), name);
    EXPECT_NE(found, sets->names()->end()) << name;
    return result[static_cast<std::size_t>(found - sets->names()->begin())];
  };
  const SetLocality at_leaf = of("leaf/" + fabric->node(leaf).description);
  EXPECT_FLOAT_EQ(at_leaf.generated, 0.5F);
  EXPECT_FALSE(is_known(at_leaf.consumed));
  EXPECT_FLOAT_EQ(at_leaf.total, 0.5F);
}

TEST(LocalitySetsTest, NamedSetsMatchByGlobAndComplainWhenApart) {
  const auto fabric = make("xgft:2;4,3;1,1");
  std::string host;
  for (const Node& node : fabric->nodes()) {
    if (node.type != NodeType::Switch) host = node.description;
  }
  const std::vector<NamedSet> named{{"all", {"*"}}, {"nothing", {"no such node"}}, {"one", {host}}};
  const auto sets = LocalitySets::find(*fabric, named);
  EXPECT_THAT(*sets->names(), Contains("all"));
  ASSERT_THAT(sets->warnings(), SizeIs(1));
  EXPECT_THAT(sets->warnings()[0], HasSubstr("'nothing'"));
}

TEST(LocalitySetsTest, NamesAreUnique) {
  FabricBuilder builder;
  for (const std::uint64_t guid : {1U, 2U}) {
    Node node;
    node.guid = NodeGuid{guid};
    node.type = NodeType::Switch;
    node.port_count = 4;
    node.description = "MT47396";
    static_cast<void>(*builder.add_node(node));
  }
  const auto sets = LocalitySets::find(*builder.build(), {});
  ASSERT_THAT(*sets->names(), SizeIs(2));
  EXPECT_NE(sets->names()->at(0), sets->names()->at(1));
}

TEST(TreeShape, ALongChainIsNoTrouble) {
  const auto fabric = make("mesh:2000,hosts=1,links=2");
  const auto sets = LocalitySets::find(*fabric, {});
  EXPECT_EQ(sets->names()->size(), 2000U);
  std::vector<SetLocality> result;
  sets->evaluate(*fabric, std::vector<PortSample>(fabric->ports().size()), result);
  EXPECT_EQ(result.size(), 2000U);
}

}  // namespace
}  // namespace heddle::load
