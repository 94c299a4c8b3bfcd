#include "routing/kept_ways.h"

#include <gtest/gtest.h>

#include <set>

#include "routing/minhop.h"
#include "routing/proof.h"
#include "routing/updn.h"
#include "unit/routing/test_fabrics.h"

namespace heddle::routing {
namespace {

std::size_t count_entries(const ForwardingTables& tables) {
  std::size_t count = 0;
  for (std::uint32_t s = 0; s < tables.switch_count(); ++s) {
    for (const std::uint8_t port : tables.row(SwitchIndex{s})) count += port != no_path.raw() ? 1 : 0;
  }
  return count;
}

bool arrives_by(const SwitchGraph& graph, const ForwardingTables& tables, SwitchIndex s, const Target& target,
                Lid lid) {
  for (std::size_t hops = 0; hops <= graph.size(); ++hops) {
    if (s == target.at) return tables.port(s, lid) != no_path;
    SwitchIndex next = no_switch;
    for (const Hop& hop : graph.hops(s)) {
      if (hop.out == tables.port(s, lid)) next = hop.peer;
    }
    if (next == no_switch) return false;
    s = next;
  }
  return false;
}

// A switch of a torus dies, and the order leaves pairs of others without a path that other tables had.
TEST(KeptWays, WhatLeadsThereIsNotTakenAwayForNothing) {
  std::size_t all = 0;
  for (const auto& fabric : {shapes::torus(4, 4, 1, 1).build(), shapes::torus(5, 5, 1, 2).build()}) {
    auto other = *UpDownRouter::make(*fabric);
    UpDownOptions by_guid;
    for (const NodeGuid guid : other.graph().guids()) by_guid.ranks.emplace_back(guid, std::uint16_t{0});
    auto router = *UpDownRouter::make(*fabric, by_guid);
    const SwitchGraph& graph = router.graph();
    for (std::uint32_t dead = 0; dead < graph.size(); ++dead) {
      auto up = LinkSet::all(*fabric);
      for (std::uint32_t i = 0; i < fabric->links().size(); ++i) {
        const Link& link = fabric->link(LinkIndex{i});
        if (link.a.node == graph.node(SwitchIndex{dead}) || link.b.node == graph.node(SwitchIndex{dead}))
          up.erase(LinkIndex{i});
      }
      router.route(0, up);
      const ForwardingTables before = route_minhop(graph, up);
      const ForwardingTables& after = router.tables();
      ForwardingTables both = after;
      for (const KeptWay& way : ways_to_keep(graph, before, after, differing_blocks(before, after), up)) {
        ASSERT_EQ(after.port(way.sw, way.lid), no_path);
        ASSERT_EQ(before.port(way.sw, way.lid), way.port);
        both.set(way.sw, way.lid, way.port);
        ++all;
      }
      EXPECT_GE(count_entries(both), count_entries(after));
      for (const Target& target : graph.targets()) {
        for (std::uint32_t s = 0; s < graph.size(); ++s) {
          if (both.port(SwitchIndex{s}, target.base) == after.port(SwitchIndex{s}, target.base)) continue;
          EXPECT_TRUE(arrives_by(graph, both, SwitchIndex{s}, target, target.base));
        }
      }
      ProofOptions options;
      options.active = &up;
      const std::vector<const ForwardingTables*> tables{&both};
      for (const auto& finding : prove(graph, tables, options).findings) {
        EXPECT_NE(finding.fault, Fault::Deadlock) << describe(finding, *fabric, graph);
        EXPECT_NE(finding.fault, Fault::Loop) << describe(finding, *fabric, graph);
      }
      // Not over links that are to go off.
      EXPECT_TRUE(ways_to_keep(graph, before, after, differing_blocks(before, after), LinkSet::none(*fabric))
                      .empty());
    }
  }
  EXPECT_GT(all, 0U);
}

}  // namespace
}  // namespace heddle::routing
