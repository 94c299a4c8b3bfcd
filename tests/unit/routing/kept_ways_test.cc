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
#include "unit/routing/passing.h"
#include "unit/routing/test_fabrics.h"

namespace heddle::routing {
namespace {

using changes::arrives_by;

std::size_t count_entries(const ForwardingTables& tables) {
  std::size_t count = 0;
  for (std::uint32_t s = 0; s < tables.switch_count(); ++s) {
    for (const std::uint8_t port : tables.row(SwitchIndex{s})) count += port != no_path.raw() ? 1 : 0;
  }
  return count;
}

/// No fewer entries than those that are wanted; those that differ lead there, and nothing closes a circle.
void expect_sound(const Fabric& fabric, const SwitchGraph& graph, const LinkSet& up,
                  const ForwardingTables& wanted, const ForwardingTables& tables) {
  EXPECT_GE(count_entries(tables), count_entries(wanted));
  for (const Target& target : graph.targets()) {
    for (std::uint32_t s = 0; s < graph.size(); ++s) {
      if (tables.port(SwitchIndex{s}, target.base) == wanted.port(SwitchIndex{s}, target.base)) continue;
      EXPECT_TRUE(arrives_by(graph, tables, SwitchIndex{s}, target, target.base));
    }
  }
  ProofOptions options;
  options.active = &up;
  const std::vector<const ForwardingTables*> all{&tables};
  for (const auto& finding : prove(graph, all, options).findings) {
    EXPECT_NE(finding.fault, Fault::Deadlock) << describe(finding, fabric, graph);
    EXPECT_NE(finding.fault, Fault::Loop) << describe(finding, fabric, graph);
  }
}

// A switch of a torus dies, and the order leaves pairs of others without a path that other tables had.
TEST(KeptWays, WhatLeadsThereIsNotTakenAwayForNothing) {
  std::size_t all = 0;
  std::size_t by_others = 0;
  for (const auto& fabric : {shapes::torus(4, 4, 1, 1).build(), shapes::torus(5, 5, 1, 2).build()}) {
    auto other = *UpDownRouter::make(*fabric);
    UpDownOptions by_guid;
    for (const NodeGuid guid : other.graph().guids()) by_guid.ranks.emplace_back(guid, std::uint16_t{0});
    auto router = *UpDownRouter::make(*fabric, by_guid);
    const SwitchGraph& graph = router.graph();
    for (std::uint32_t dead = 0; dead < graph.size(); ++dead) {
      auto up = LinkSet::all(*fabric);
      UpdateOrder order{graph, router.ranks(), router.mends(), nullptr, &up};
      for (std::uint32_t i = 0; i < fabric->links().size(); ++i) {
        const Link& link = fabric->link(LinkIndex{i});
        if (link.a.node == graph.node(SwitchIndex{dead}) || link.b.node == graph.node(SwitchIndex{dead}))
          up.erase(LinkIndex{i});
      }
      router.route(0, up);
      const ForwardingTables before = route_minhop(graph, up);
      const ForwardingTables& after = router.tables();
      const auto differing = differing_blocks(before, after);
      ForwardingTables both = after;
      for (const KeptWay& way : ways_to_keep(order, before, after, differing)) {
        ASSERT_EQ(after.port(way.sw, way.lid), no_path);
        ASSERT_EQ(before.port(way.sw, way.lid), way.port);
        both.set(way.sw, way.lid, way.port);
        ++all;
      }
      expect_sound(*fabric, graph, up, after, both);
      ForwardingTables more = after;
      for (const KeptWay& way : ways_to_keep(order, before, after, differing, Keep::OrOthers))
        more.set(way.sw, way.lid, way.port);
      expect_sound(*fabric, graph, up, after, more);
      EXPECT_GE(count_entries(more), count_entries(both));
      by_others += count_entries(more) - count_entries(both);
      // Not over links that are to go off.
      const LinkSet none = LinkSet::none(*fabric);
      order.usable = &none;
      EXPECT_TRUE(ways_to_keep(order, before, after, differing_blocks(before, after)).empty());
    }
  }
  EXPECT_GT(all, 0U);
  EXPECT_GT(by_others, 0U) << "no other way was needed";
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
    auto active = LinkSet::all(*fabric);
    const UpdateOrder order{router.graph(), router.ranks(), router.mends()};
    UpdateOrder keeping = order;
    keeping.usable = &active;
    ForwardingTables stands = router.tables();
    Random random{seed};
    for (unsigned step = 0; step < 4; ++step) {
      active = with_fewer(router, std::move(active), random);
      ForwardingTables wanted = router.tables();
      std::vector<Lid> kept;
      for (const KeptWay& way : ways_to_keep(keeping, stands, wanted, differing_blocks(stands, wanted))) {
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

/// Of hosts, by switch and LID: who is without a way by `tables` and had one.
std::size_t count_parted(const SwitchGraph& graph, const ForwardingTables& had,
                         const ForwardingTables& tables) {
  std::size_t count = 0;
  for (const Target& target : graph.targets()) {
    for (std::uint32_t s = 0; s < graph.size(); ++s) {
      const SwitchIndex sw{s};
      if (target.kind != TargetKind::Host || graph.hosts_at(sw) == 0) continue;
      count += arrives_by(graph, had, sw, target, target.base) &&
                       !arrives_by(graph, tables, sw, target, target.base)
                   ? 1
                   : 0;
    }
  }
  return count;
}

/// Tables on their way from one set of links to another, with what is kept.
class Standing {
 public:
  Standing(UpDownRouter& router, const LinkSet& up) : router_{router} {
    router.update(up);
    tables_ = router.tables();
  }

  [[nodiscard]] const ForwardingTables& tables() const { return tables_; }
  /// A switch that was restarted.
  void empty(SwitchIndex sw) { std::ranges::fill(tables_.row(sw), no_path.raw()); }
  void go_on(const LinkSet& up) {
    router_.update(up);
    const UpdateOrder order{router_.graph(), router_.ranks(), router_.mends(), &up, &up};
    ForwardingTables wanted = router_.tables();
    const auto differing = differing_blocks(tables_, wanted);
    for (const KeptWay& way : ways_to_keep(order, tables_, wanted, differing, Keep::All))
      wanted.set(way.sw, way.lid, way.port);
    tables_ = std::move(wanted);
  }

 private:
  UpDownRouter& router_;
  ForwardingTables tables_;
};

// World 541320265 of the swarm: a mend has lost its cable, and what is kept instead turns as another mend
// may, so that nothing seemed to be lost. A switch comes back, and the next one is to go on by a way for
// which that turn would be none of the order's: the entries that led hosts to it were taken away (draws 253,
// 282, 285).
TEST(KeptWays, HostsStayTogetherWhenASwitchIsBack) {
  constexpr unsigned seed = 95;
  const auto fabric =
      assign_lids(**generate(fmt::format("random:switches=10,hosts=20,links=20,seed={}", seed))).value();
  auto router = UpDownRouter::make(*fabric).value();
  const SwitchGraph& graph = router.graph();
  Random random(seed);
  for (unsigned draw = 0; draw < 300; ++draw) {
    const LinkSet on = changes::without_some(*fabric, random.below(5), random);
    const SwitchIndex dead{static_cast<std::uint32_t>(random.below(graph.size()))};
    LinkSet without = on;
    for (const Hop& hop : graph.hops(dead)) without.erase(hop.link);
    const LinkSet left = changes::without_some(*fabric, 1, random);
    const auto cut = [&](LinkSet links) {
      for (std::uint32_t i = 0; i < left.universe(); ++i) {
        if (!left.contains(LinkIndex{i})) links.erase(LinkIndex{i});
      }
      return links;
    };
    Standing standing(router, without);
    standing.go_on(cut(without));
    standing.empty(dead);
    const ForwardingTables had = standing.tables();
    standing.go_on(cut(random.chance(0.5) ? on : LinkSet::all(*fabric)));
    EXPECT_EQ(count_parted(graph, had, standing.tables()), 0U) << "draw " << draw;
  }
}

// World 312231438 of the swarm: a switch comes back, its order is made anew, and hosts have no path by it
// while an operator's links are off. Their entries closed a circle with what was wanted, and were taken away;
// what was wanted of other LIDs closes it as well, and can wait.
TEST(KeptWays, OthersStayAsTheyAreForThoseThatLeadThere) {
  for (const std::uint64_t seed : {61, 129, 147, 235, 258}) {
    const auto fabric =
        assign_lids(**generate(fmt::format("random:switches=10,hosts=20,links=20,seed={}", seed))).value();
    Random random(seed);
    const auto active = changes::without_some(*fabric, 2 + random.below(4), random);
    const auto part = changes::without_cables(*fabric, active);
    const auto earlier = UpDownRouter::make(*part);
    ASSERT_TRUE(earlier);
    UpDownOptions options;
    for (std::uint32_t s = 0; s < earlier->graph().size(); ++s)
      options.ranks.emplace_back(earlier->graph().guid(SwitchIndex{s}),
                                 earlier->ranks().rank(SwitchIndex{s}));
    auto router = UpDownRouter::make(*fabric, options).value();
    router.update(active);
    const UpdateOrder order{router.graph(), router.ranks(), router.mends(), &active, &active};
    ForwardingTables stands = earlier->tables();
    const auto differing = differing_blocks(stands, router.tables());
    const auto ways = ways_to_keep(order, stands, router.tables(), differing, Keep::All);
    EXPECT_LT(ways_to_keep(order, stands, router.tables(), differing).size(), ways.size())
        << "it would have been so anyhow: seed " << seed;
    ForwardingTables wanted = router.tables();
    std::vector<Lid> kept;
    for (const KeptWay& way : ways) {
      wanted.set(way.sw, way.lid, way.port);
      kept.push_back(way.lid);
    }
    const auto update = plan_safe_update(order, stands, wanted, differing, {nullptr, kept, MayStay::Yes});
    EXPECT_TRUE(update.circular.empty() && !update.is_uncertain) << "seed " << seed;
    EXPECT_FALSE(update.staying.empty()) << "seed " << seed;
    changes::Passing passing(router.graph());
    passing.carry_out(update.plan.stages, stands);
    EXPECT_FALSE(passing.has_circle()) << "seed " << seed;
    for (const KeptWay& way : ways) {
      for (const Target& target : router.graph().targets()) {
        if (way.lid < target.base || way.lid.raw() >= target.base.raw() + target.lid_count()) continue;
        EXPECT_TRUE(arrives_by(router.graph(), stands, way.sw, target, way.lid)) << "seed " << seed;
      }
    }
  }
}

}  // namespace
}  // namespace heddle::routing
