#include "routing/mends.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <algorithm>
#include <optional>
#include <vector>

#include "fabric/generators.h"
#include "routing/proof.h"
#include "routing/safe_update.h"
#include "routing/update_plan.h"
#include "routing/updn.h"
#include "unit/routing/fewer_links.h"
#include "unit/routing/test_fabrics.h"

namespace heddle::routing {
namespace {

using shapes::Sketch;

/// Every host as a manager: each must reach every switch by LID, and be reached.
std::vector<Lid> all_hosts(const SwitchGraph& graph) {
  std::vector<Lid> lids;
  for (const Target& target : graph.targets()) {
    if (target.kind == TargetKind::Host) lids.push_back(target.base);
  }
  return lids;
}

void expect_proved(const UpDownRouter& router, const Fabric& fabric, const ProofOptions& options = {}) {
  const Proof proof = prove(router.graph(), router.tables(), options);
  EXPECT_TRUE(proof.holds()) << describe(proof.findings[0], fabric, router.graph());
}

/// A full two-level tree, switches 0 to 5 the leaves and 6 to 8 the spines, in which spine 8 has no cable to
/// leaf 0.
Sketch tree_with_a_cable_missing() {
  Sketch sketch(9);
  for (unsigned leaf = 0; leaf < 6; ++leaf) {
    for (unsigned spine = 6; spine < 9; ++spine) {
      if (leaf != 0 || spine != 8) sketch.cable(leaf, spine);
    }
    sketch.hosts(leaf, 3);
  }
  return sketch;
}

// Spine 8 and leaf 0 share no switch above: up*/down* never joins them.
TEST(Mends, AManagerReachesTheSpineThatItsLeafHasNoCableTo) {
  const auto fabric = tree_with_a_cable_missing().build();
  const auto router = UpDownRouter::make(*fabric).value();
  EXPECT_EQ(router.paths().distance(SwitchIndex{0}, SwitchIndex{8}), LegalPaths::far);
  EXPECT_TRUE(router.mends().left().empty());
  ProofOptions options;
  options.managers = all_hosts(router.graph());
  expect_proved(router, *fabric, options);
}

TEST(Mends, AFullTreeHasNone) {
  const auto fabric = shapes::three_level_tree(3).build();
  EXPECT_TRUE(UpDownRouter::make(*fabric).value().mends().all().empty());
}

TEST(Mends, JoinHostsOfTwoIslands) {
  // Leaves 0 to 3 on spines 4 and 5; leaf 6 on spine 4 only, leaf 7 on spine 5 only.
  Sketch sketch(8);
  for (unsigned leaf = 0; leaf < 4; ++leaf) {
    sketch.cable(leaf, 4, 2);
    sketch.cable(leaf, 5, 2);
    sketch.hosts(leaf, 4);
  }
  sketch.cable(6, 4);
  sketch.cable(7, 5);
  sketch.hosts(6, 4);
  sketch.hosts(7, 4);
  const auto fabric = sketch.build();
  const SwitchGraph graph = SwitchGraph::make(*fabric).value();
  UpDownOptions spines;
  spines.roots = {graph.guid(SwitchIndex{4}), graph.guid(SwitchIndex{5})};
  const auto router = UpDownRouter::make(*fabric, spines).value();
  EXPECT_EQ(router.paths().distance(SwitchIndex{6}, SwitchIndex{7}), LegalPaths::far);
  EXPECT_TRUE(router.unconnected().empty());
  ProofOptions options;
  options.managers = all_hosts(router.graph());
  expect_proved(router, *fabric, options);
}

// Only a turn over the same leaf was allowed: with its link off, SMPs go by directed route, and all else as
// before.
TEST(Mends, ComeBackWithTheirLink) {
  const auto fabric = tree_with_a_cable_missing().build();
  auto router = UpDownRouter::make(*fabric).value();
  const std::uint32_t number = router.mends().find(SwitchIndex{8}, SwitchIndex{0});
  ASSERT_NE(number, Mends::none);
  const ForwardingTables before = router.tables();
  for (const Mends::Way& way : router.mends().ways(router.mends().all()[number])) {
    LinkSet active = LinkSet::all(*fabric);
    active.erase(way.link);
    router.update(active);
    ProofOptions options;
    options.active = &active;
    expect_proved(router, *fabric, options);
    EXPECT_TRUE(router.unconnected().empty());
  }
  router.update(LinkSet::all(*fabric));
  EXPECT_EQ(router.tables(), before);
}

/// A tree of two or three levels with cables missing, hosts beside middle switches, and an island.
Sketch damaged_tree(std::uint64_t seed) {
  Random random(seed);
  const auto below = [&](unsigned n) { return static_cast<unsigned>(random.below(n)); };
  const unsigned leaves = 3 + below(5);
  const unsigned spines = 2 + below(4);
  const unsigned tops = below(2) == 0 ? 0 : 1 + below(3);
  Sketch sketch(leaves + spines + tops + 2);
  for (unsigned leaf = 0; leaf < leaves; ++leaf) {
    const unsigned sure = below(spines);
    for (unsigned spine = 0; spine < spines; ++spine) {
      if (spine == sure || !random.chance(0.2)) sketch.cable(leaf, leaves + spine, 1 + below(2));
    }
    sketch.hosts(leaf, 1 + below(4));
  }
  for (unsigned spine = 0; spine < spines; ++spine) {
    for (unsigned top = 0; top < tops; ++top) {
      if (top == 0 || !random.chance(0.3)) sketch.cable(leaves + spine, leaves + spines + top);
    }
    if (random.chance(0.1)) sketch.hosts(leaves + spine, 1);
  }
  const unsigned island = leaves + spines + tops;
  sketch.cable(island, island + 1);
  sketch.cable(island, below(leaves + spines + tops));
  sketch.cable(island, leaves + below(spines));
  sketch.hosts(island + 1, 1 + below(2));
  return sketch;
}

TEST(MendsProperty, DamagedTreesAreCompleteAndAcyclicWhicheverLinksAreOn) {
  unsigned mended = 0;
  EXPECT_TRUE(rc::check([&] {
    const auto seed = *rc::gen::arbitrary<std::uint32_t>();
    Sketch sketch = damaged_tree(seed);
    sketch.shuffle(seed);
    const auto fabric = sketch.build(*rc::gen::inRange<std::uint8_t>(0, 2));
    auto router = UpDownRouter::make(*fabric).value();
    const SwitchGraph& graph = router.graph();
    if (!router.unconnected().empty()) RC_DISCARD("parts");
    mended += router.mends().all().empty() ? 0 : 1;
    RC_ASSERT(prove(graph, router.tables()).holds());
    // All tables that the order ever makes, together.
    std::vector<ForwardingTables> tables{router.tables()};
    Random random(seed);
    for (unsigned step = 0; step < 4; ++step) {
      LinkSet active = LinkSet::all(*fabric);
      for (std::uint32_t i = 0; i < fabric->links().size(); ++i) {
        const Link& link = fabric->links()[i];
        const bool host = fabric->node(link.b.node).type != NodeType::Switch ||
                          fabric->node(link.a.node).type != NodeType::Switch;
        if (!host && random.chance(0.15)) active.erase(LinkIndex{i});
      }
      router.update(active);
      if (router.unconnected().empty()) {
        ProofOptions options;
        options.active = &active;
        RC_ASSERT(prove(graph, router.tables(), options).holds());
      }
      const auto plan =
          plan_update(graph, router.ranks(), tables.back(), router.tables(), &router.mends()).value();
      std::vector<ForwardingTables> steps{tables.back()};
      for (const auto& stage : plan.stages) {
        steps.push_back(steps.back());
        apply(stage, steps.back());
      }
      RC_ASSERT(steps.back() == router.tables());
      std::vector<const ForwardingTables*> pointers;
      for (const ForwardingTables& each : steps) pointers.push_back(&each);
      for (const Finding& finding : prove_stages(graph, pointers).findings)
        RC_ASSERT(finding.fault == Fault::NoPath);
      tables.push_back(router.tables());
    }
    std::vector<const ForwardingTables*> pointers;
    for (const ForwardingTables& each : tables) pointers.push_back(&each);
    for (const Finding& finding : prove(graph, pointers).findings) RC_ASSERT(finding.fault == Fault::NoPath);
    auto straight = UpDownRouter::make(*fabric).value();
    straight.update(router.active());
    RC_ASSERT(straight.tables() == router.tables());
  }));
  EXPECT_GT(mended, 0U);
}

// Hosts that a mend joins miss packets only where no order of writing is known to be free of deadlocks.
TEST(MendsProperty, NobodyMissesPacketsWhileMendsChangeUnlessItIsSaid) {
  unsigned would_have_paused = 0;
  unsigned pauses = 0;
  EXPECT_TRUE(rc::check([&] {
    const auto seed = *rc::gen::arbitrary<std::uint32_t>();
    Sketch sketch = damaged_tree(seed);
    sketch.shuffle(seed);
    const auto fabric = sketch.build(*rc::gen::inRange<std::uint8_t>(0, 2));
    auto router = UpDownRouter::make(*fabric).value();
    const SwitchGraph& graph = router.graph();
    if (!router.unconnected().empty() || router.mends().all().empty()) RC_DISCARD("none mended");
    ForwardingTables before = router.tables();
    Random random(seed);
    for (unsigned step = 0; step < 4; ++step) {
      LinkSet active = LinkSet::all(*fabric);
      for (std::uint32_t i = 0; i < fabric->links().size(); ++i) {
        const Link& link = fabric->links()[i];
        const bool host = fabric->node(link.b.node).type != NodeType::Switch ||
                          fabric->node(link.a.node).type != NodeType::Switch;
        if (!host && random.chance(0.15)) active.erase(LinkIndex{i});
      }
      router.update(active);
      if (!router.unconnected().empty()) continue;
      const auto differing = differing_blocks(before, router.tables());
      LeftOut pausing;
      pausing.takes_pausing = true;
      RC_ASSERT(plan_update(graph, router.ranks(), before, router.tables(), differing, &router.mends(),
                            nullptr, &pausing)
                    .has_value());
      const SafeUpdate update =
          plan_safe_update({graph, router.ranks(), router.mends()}, before, router.tables(), differing);
      would_have_paused += pausing.pausing.empty() ? 0 : 1;
      pauses += update.pausing.empty() ? 0 : 1;
      RC_ASSERT(update.unordered.empty());
      std::vector<ForwardingTables> steps{before};
      for (const auto& stage : update.plan.stages) {
        steps.push_back(steps.back());
        apply(stage, steps.back());
      }
      RC_ASSERT(steps.back() == router.tables());
      std::vector<const ForwardingTables*> pointers;
      for (const ForwardingTables& each : steps) pointers.push_back(&each);
      ProofOptions options;
      options.most_findings = 1000;
      for (const Finding& finding : prove_stages(graph, pointers, options).findings) {
        RC_ASSERT(finding.fault == Fault::NoPath);
        RC_ASSERT(std::find(update.pausing.begin(), update.pausing.end(), finding.destination) !=
                  update.pausing.end());
      }
      before = router.tables();
    }
  }));
  EXPECT_GT(would_have_paused, 0U);
  EXPECT_LT(4 * pauses, would_have_paused);
}

/// Over links that are up, from an entry of one of two tables to one of either: those that go down and up
/// again as the order does not allow.
std::size_t foreign_turns(const UpDownRouter& router, const LinkSet& up, const ForwardingTables& now,
                          const ForwardingTables& next) {
  const SwitchGraph& graph = router.graph();
  const auto peer = [&](SwitchIndex s, PortNum out) {
    for (const Hop& hop : graph.hops(s)) {
      if (hop.out == out && up.contains(hop.link)) return hop.peer;
    }
    return no_switch;
  };
  std::size_t count = 0;
  for (const Target& target : graph.targets()) {
    for (std::uint32_t i = 0; i < graph.size(); ++i) {
      const SwitchIndex from{i};
      for (const ForwardingTables* first : {&now, &next}) {
        const SwitchIndex over = peer(from, first->port(from, target.base));
        if (from == target.at || over == no_switch || over == target.at) continue;
        for (const ForwardingTables* then : {&now, &next}) {
          const SwitchIndex to = peer(over, then->port(over, target.base));
          const bool turns =
              to != no_switch && router.ranks().above(from, over) && router.ranks().above(to, over);
          count += turns && !router.mends().turns(from, over, to) ? 1 : 0;
        }
      }
    }
  }
  return count;
}

// A switch goes down as soon as it can, so that a way is not always a shortest one both ways. Balancing took
// some that were the shortest backwards only, behind mends that counted on others: 29 turns there.
TEST(Mends, LeadToSwitchesThatGoOnAsTheyCountOn) {
  for (const char* source : {"grown:seed=6,hosts=322", "grown:seed=9,hosts=203", "grown:seed=5,hosts=1000"}) {
    SCOPED_TRACE(source);
    const auto fabric = *assign_lids(**generate(source));
    const auto router = *UpDownRouter::make(*fabric);
    EXPECT_FALSE(router.mends().all().empty());
    EXPECT_EQ(foreign_turns(router, LinkSet::all(*fabric), router.tables(), router.tables()), 0U);
  }
}

// Links are taken out of use, and with them the mend of a switch that no host needs to be reached from. It
// was taken away last, while the switch that it led to had turned upwards.
TEST(Mends, ThatNobodyNeedsAreGoneBeforeTheirPacketsWouldTurnUpAgain) {
  for (const unsigned seed : {40U, 96U}) {
    const std::string source = fmt::format("grown:seed={},hosts={}", seed, 20 + seed * 37 % 230);
    SCOPED_TRACE(source);
    const auto fabric = *assign_lids(**generate(source));
    auto router = *UpDownRouter::make(*fabric);
    const LinkSet up = LinkSet::all(*fabric);
    ForwardingTables now = router.tables();
    Random random{seed};
    (void)with_fewer(router, up, random);
    const auto update = plan_safe_update({router.graph(), router.ranks(), router.mends()}, now,
                                         router.tables(), differing_blocks(now, router.tables()));
    for (const auto& stage : update.plan.stages) {
      ForwardingTables next = now;
      apply(stage, next);
      EXPECT_EQ(foreign_turns(router, up, now, next), 0U);
      now = std::move(next);
    }
    EXPECT_EQ(now, router.tables());
  }
}

// World 4000243 of the swarm: the mend that a loss has broken goes on sending to a switch that is led
// upwards.
TEST(Mends, WhatALossHasBrokenIsGoneBeforeItsPacketsWouldTurnUpAgain) {
  for (const std::uint64_t seed : {3U, 7U, 30U}) {
    const auto fabric =
        assign_lids(**generate(fmt::format("random:switches=10,hosts=20,links=20,seed={}", seed))).value();
    auto router = UpDownRouter::make(*fabric).value();
    for (std::uint32_t i = 0; i < fabric->links().size(); ++i) {
      const Link& link = fabric->link(LinkIndex{i});
      if (fabric->node(link.a.node).type != fabric->node(link.b.node).type) continue;
      LinkSet up = LinkSet::all(*fabric);
      router.update(up);
      ForwardingTables now = router.tables();
      up.erase(LinkIndex{i});
      router.update(up);
      const auto plan = plan_update(router.graph(), router.ranks(), now, router.tables(),
                                    differing_blocks(now, router.tables()), &router.mends(), &up);
      ASSERT_TRUE(plan.has_value());
      for (const auto& stage : plan->stages) {
        ForwardingTables next = now;
        apply(stage, next);
        EXPECT_EQ(foreign_turns(router, up, now, next), 0U) << "seed " << seed << ", link " << i;
        now = next;
      }
    }
  }
}

/// By switch, the stage in which its entry for the LID is written; none: in no stage.
std::vector<std::optional<std::size_t>> stages_of(Lid lid, const UpdatePlan& plan, std::size_t switches) {
  std::vector<std::optional<std::size_t>> at(switches);
  for (std::size_t stage = 0; stage < plan.stages.size(); ++stage) {
    for (const EntryWrite& write : plan.stages[stage]) {
      if (write.lid == lid) at[write.sw.raw()] = stage;
    }
  }
  return at;
}

// World 6000000063 of the swarm: the mend of an earlier order led down to a switch that had lost its cable,
// and that a mend led up again in the stage in which the earlier one was to go.
TEST(Mends, WhoLostItsWayTurnsNoPacketsOfAnEarlierOne) {
  std::size_t cases = 0;
  for (unsigned seed = 1; seed <= 60; ++seed) {
    const auto fabric =
        *assign_lids(**generate(fmt::format("random:switches=10,hosts=20,links=20,seed={}", seed)));
    const auto router = *UpDownRouter::make(*fabric);
    const SwitchGraph& graph = router.graph();
    const auto is_above = [&](SwitchIndex x, SwitchIndex y) { return router.ranks().above(x, y); };
    for (const Mends::Mend& mend : router.mends().all()) {
      const Lid lid = std::ranges::find(graph.targets(), mend.to, &Target::at)->base;
      const auto hops = graph.hops(mend.at);
      const auto on = std::ranges::find(hops, router.tables().port(mend.at, lid), &Hop::out);
      for (const Hop& hop : hops) {
        // Whose earlier entry led here, and packets of which may not go on as those of the mend do.
        const SwitchIndex sender = hop.peer;
        if (!is_above(sender, mend.at) || !is_above(on->peer, mend.at) || sender == on->peer) continue;
        if (router.mends().turns(sender, mend.at, on->peer) || sender == mend.to) continue;
        ForwardingTables before = router.tables();
        before.set(mend.at, lid, no_path);
        const auto back = std::ranges::find(graph.hops(sender), mend.at, &Hop::peer);
        before.set(sender, lid, back->out);
        const auto plan = plan_update(graph, router.ranks(), before, router.tables(), &router.mends());
        ASSERT_TRUE(plan);
        const auto at = stages_of(lid, *plan, graph.size());
        ASSERT_TRUE(at[sender.raw()] && at[mend.at.raw()]);
        EXPECT_LT(*at[sender.raw()], *at[mend.at.raw()]) << "seed " << seed << ", LID " << lid.raw();
        ++cases;
      }
    }
  }
  EXPECT_GT(cases, 0U);
}

}  // namespace
}  // namespace heddle::routing
