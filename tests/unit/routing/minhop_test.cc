#include "routing/minhop.h"

#include <gtest/gtest.h>

#include "unit/routing/test_fabrics.h"

namespace heddle::routing {
namespace {

/// Switches passed from `from` to the port that answers to `lid`; -1 when it never gets there.
int walk(const SwitchGraph& graph, const ForwardingTables& tables, SwitchIndex from, Lid lid) {
  SwitchIndex s = from;
  for (int hops = 0; hops <= static_cast<int>(graph.size()); ++hops) {
    const PortNum out = tables.port(s, lid);
    for (const std::uint32_t t : graph.targets_at(s)) {
      const Target& target = graph.targets()[t];
      if (target.base <= lid && lid.raw() < target.base.raw() + target.lid_count()) {
        return target.out == out ? hops : -1;
      }
    }
    SwitchIndex next = no_switch;
    for (const Hop& hop : graph.hops(s)) {
      if (hop.out == out) next = hop.peer;
    }
    if (next == no_switch) return -1;
    s = next;
  }
  return -1;
}

TEST(Minhop, ReachesEveryLidByAShortestPath) {
  const auto fabric = shapes::torus(4, 4, 2, 2).build(1);
  const SwitchGraph graph = SwitchGraph::make(*fabric).value();
  const ForwardingTables tables = route_minhop(graph, LinkSet::all(*fabric));
  EXPECT_EQ(graph.host_count(), 32U);
  int longest = 0;
  for (std::uint32_t s = 0; s < graph.size(); ++s) {
    for (const Target& target : graph.targets()) {
      for (unsigned i = 0; i < target.lid_count(); ++i) {
        const int hops =
            walk(graph, tables, SwitchIndex{s}, Lid{static_cast<std::uint16_t>(target.base.raw() + i)});
        ASSERT_GE(hops, 0);
        longest = std::max(longest, hops);
      }
    }
  }
  EXPECT_EQ(longest, 4);
}

TEST(Minhop, GoesAroundALinkThatIsOff) {
  const auto fabric = shapes::two_level_tree(2, 2, 1).build();
  const SwitchGraph graph = SwitchGraph::make(*fabric).value();
  LinkSet active = LinkSet::all(*fabric);
  const Hop off = graph.hops(SwitchIndex{0})[0];
  active.erase(off.link);
  const ForwardingTables tables = route_minhop(graph, active);
  for (const std::uint8_t port : tables.row(SwitchIndex{0})) EXPECT_NE(PortNum{port}, off.out);
  for (const Target& target : graph.targets()) EXPECT_GE(walk(graph, tables, SwitchIndex{0}, target.base), 0);
}

TEST(Minhop, AFabricInPartsHasNoPath) {
  shapes::Sketch sketch(2);
  sketch.hosts(0, 1);
  sketch.hosts(1, 1);
  const auto fabric = sketch.build();
  const SwitchGraph graph = SwitchGraph::make(*fabric).value();
  const ForwardingTables tables = route_minhop(graph, LinkSet::all(*fabric));
  EXPECT_EQ(tables.port(SwitchIndex{0}, Lid{4}), no_path);
  EXPECT_NE(tables.port(SwitchIndex{0}, Lid{3}), no_path);
}

TEST(SwitchGraph, RefusesALidOfTwoPorts) {
  FabricBuilder builder;
  for (std::uint64_t guid : {0xaU, 0xbU}) {
    Node node;
    node.guid = NodeGuid{guid};
    node.type = NodeType::Switch;
    node.port_count = 1;
    const NodeIndex index = builder.add_node(node).value();
    Port port0;
    port0.lid = Lid{5};
    (void)builder.set_port(index, port0);
  }
  const auto graph = SwitchGraph::make(*builder.build());
  ASSERT_FALSE(graph);
  EXPECT_EQ(graph.error().code, ErrorCode::Conflict);
  EXPECT_NE(graph.error().message.find("LID 5"), std::string::npos);
}

TEST(ForwardingTables, DifferingBlocks) {
  const NodeGuid guids[] = {NodeGuid{1}, NodeGuid{2}};
  ForwardingTables x(guids, Lid{130});
  ForwardingTables y(guids, Lid{300});
  EXPECT_TRUE(differing_blocks(x, y).empty());
  x.set(SwitchIndex{1}, Lid{64}, PortNum{3});
  y.set(SwitchIndex{0}, Lid{256}, PortNum{3});
  EXPECT_EQ(differing_blocks(x, y),
            (std::vector<BlockRef>{{SwitchIndex{0}, std::uint16_t{4}}, {SwitchIndex{1}, std::uint16_t{1}}}));
}

}  // namespace
}  // namespace heddle::routing
