#include "routing/kept_ways.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "base/random.h"
#include "fabric/generators.h"
#include "routing/minhop.h"
#include "routing/proof.h"
#include "routing/safe_update.h"
#include "routing/updn.h"
#include "unit/routing/fewer_links.h"
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
    const UpdateOrder order{graph, router.ranks(), router.mends()};
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
      for (const KeptWay& way : ways_to_keep(order, before, after, differing_blocks(before, after), up)) {
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
      EXPECT_TRUE(ways_to_keep(order, before, after, differing_blocks(before, after), LinkSet::none(*fabric))
                      .empty());
    }
  }
  EXPECT_GT(all, 0U);
}

// Nothing is lost: links are taken out of use while they carry traffic, and pairs of switches that nobody
// needs lose their mends. What was kept of these turned packets in other ways, and made a circle with LIDs
// that changed at the same time: seeds 40 and 99.
TEST(KeptWays, MakeNoOtherTurnsWhereNothingIsLost) {
  std::size_t all = 0;
  for (const unsigned seed : {5U, 22U, 40U, 48U, 99U}) {
    const std::string source = fmt::format("grown:seed={},hosts={}", seed, 20 + seed * 37 % 230);
    SCOPED_TRACE(source);
    const auto fabric = *assign_lids(**generate(source));
    auto router = *UpDownRouter::make(*fabric);
    const UpdateOrder order{router.graph(), router.ranks(), router.mends()};
    ForwardingTables stands = router.tables();
    Random random{seed};
    auto active = LinkSet::all(*fabric);
    for (unsigned step = 0; step < 4; ++step) {
      active = with_fewer(router, std::move(active), random);
      ForwardingTables wanted = router.tables();
      std::vector<Lid> kept;
      for (const KeptWay& way :
           ways_to_keep(order, stands, wanted, differing_blocks(stands, wanted), active)) {
        wanted.set(way.sw, way.lid, way.port);
        kept.push_back(way.lid);
      }
      const SafeUpdate update =
          plan_safe_update(order, stands, wanted, differing_blocks(stands, wanted), {nullptr, kept});
      EXPECT_TRUE(update.circular.empty());
      EXPECT_TRUE(update.following.empty());
      EXPECT_TRUE(update.unordered.empty());
      all += kept.size();
      stands = std::move(wanted);
    }
  }
  EXPECT_GT(all, 0U);
}

}  // namespace
}  // namespace heddle::routing
