#include "routing/proof.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include "routing/hop_map.h"
#include "routing/minhop.h"
#include "routing/update_plan.h"
#include "routing/updn.h"
#include "unit/routing/test_fabrics.h"

namespace heddle::routing {
namespace {

using testing::HasSubstr;

std::vector<Fault> faults(const Proof& proof) {
  std::vector<Fault> result;
  for (const Finding& finding : proof.findings) result.push_back(finding.fault);
  return result;
}

/// Three switches in a ring with a host each; LIDs 1..3 the switches, 4..6 the hosts.
struct Ring {
  std::shared_ptr<const Fabric> fabric = [] {
    shapes::Sketch sketch(3);
    for (unsigned s = 0; s < 3; ++s) sketch.cable(s, (s + 1) % 3);
    for (unsigned s = 0; s < 3; ++s) sketch.hosts(s, 1);
    return sketch.build();
  }();
  SwitchGraph graph = SwitchGraph::make(*fabric).value();
  ForwardingTables tables = route_minhop(graph, LinkSet::all(*fabric));

  PortNum towards(unsigned from, unsigned to) const {
    for (const Hop& hop : graph.hops(SwitchIndex{from})) {
      if (hop.peer == SwitchIndex{to}) return hop.out;
    }
    return no_path;
  }
  /// All entries for the LIDs of switch `to` and its host, both other switches by way of `through`.
  void send(unsigned from, unsigned to, unsigned through) {
    for (const unsigned lid : {to + 1, to + 4}) {
      tables.set(SwitchIndex{from}, Lid{static_cast<std::uint16_t>(lid)}, towards(from, through));
    }
  }
};

TEST(Proof, ShortestPathsOfATriangleHold) {
  Ring ring;
  const Proof proof = prove(ring.graph, ring.tables);
  EXPECT_TRUE(proof.holds());
  EXPECT_EQ(proof.paths, 9U);
}

TEST(Proof, PacketsThatEndSomewhereWaitForBuffersUntilThen) {
  Ring ring;
  const auto send = [&](unsigned from, unsigned lid, PortNum port) {
    ring.tables.set(SwitchIndex{from}, Lid{static_cast<std::uint16_t>(lid)}, port);
  };
  // All hosts' LIDs go round one way; the one at switch 1 has no entry there.
  send(1, 4, ring.towards(1, 2));
  send(2, 5, ring.towards(2, 0));
  send(0, 6, ring.towards(0, 1));
  send(1, 5, no_path);
  EXPECT_THAT(faults(prove(ring.graph, ring.tables)), testing::Contains(Fault::Deadlock));
}

TEST(Proof, ALoopIsShownAsACycleOfPorts) {
  Ring ring;
  ring.tables.set(SwitchIndex{0}, Lid{6}, ring.towards(0, 1));
  ring.tables.set(SwitchIndex{1}, Lid{6}, ring.towards(1, 0));
  const Proof proof = prove(ring.graph, ring.tables);
  ASSERT_THAT(faults(proof), testing::Contains(Fault::Loop));
  EXPECT_EQ(proof.broken, 2U);
  EXPECT_EQ(proof.findings[0].destination, Lid{6});
  EXPECT_EQ(proof.findings[0].steps.size(), 2U);
  EXPECT_THAT(describe(proof.findings[0], *ring.fabric, ring.graph), HasSubstr("0x0000000000000100"));
}

TEST(Proof, AMissingEntryAndAPortThatLeadsNowhere) {
  Ring ring;
  ring.tables.set(SwitchIndex{0}, Lid{6}, no_path);
  EXPECT_EQ(faults(prove(ring.graph, ring.tables)), std::vector{Fault::NoPath});
  ring.tables.set(SwitchIndex{0}, Lid{6}, PortNum{77});
  EXPECT_EQ(faults(prove(ring.graph, ring.tables)), std::vector{Fault::DeadEnd});
}

TEST(Proof, AnEntryOverALinkThatIsOff) {
  Ring ring;
  LinkSet active = LinkSet::all(*ring.fabric);
  active.erase(ring.graph.hops(SwitchIndex{0})[0].link);
  ProofOptions options;
  options.active = &active;
  EXPECT_THAT(faults(prove(ring.graph, ring.tables, options)), testing::Each(Fault::DeadEnd));
  EXPECT_TRUE(prove(ring.graph, route_minhop(ring.graph, active), options).holds());
}

// Clockwise only, around a ring of three: every channel waits for the next.
TEST(Proof, OneWayAroundARingIsADeadlock) {
  Ring ring;
  for (unsigned s = 0; s < 3; ++s) ring.send(s, (s + 2) % 3, (s + 1) % 3);
  const Proof proof = prove(ring.graph, ring.tables);
  ASSERT_EQ(faults(proof), std::vector{Fault::Deadlock});
  EXPECT_EQ(proof.findings[0].steps.size(), 3U);
}

// Hosts may write to any switch, if they need not reach it.
TEST(Proof, WhatNeedNotArriveMayBeLeftOut) {
  Ring ring;
  for (unsigned s = 0; s < 3; ++s) {
    const Lid of_switch{static_cast<std::uint16_t>(1 + (s + 2) % 3)};
    ring.tables.set(SwitchIndex{s}, of_switch, ring.towards(s, (s + 1) % 3));
  }
  EXPECT_EQ(faults(prove(ring.graph, ring.tables)), std::vector{Fault::Deadlock});
  ProofOptions needed;
  needed.followed = Followed::Needed;
  EXPECT_TRUE(prove(ring.graph, ring.tables, needed).holds());
  needed.managers = {Lid{4}, Lid{5}, Lid{6}};
  EXPECT_EQ(faults(prove(ring.graph, ring.tables, needed)), std::vector{Fault::Deadlock});
}

TEST(Proof, MinhopOnATorusShowsACycle) {
  const auto fabric = shapes::torus(4, 4, 2, 2).build();
  const SwitchGraph graph = SwitchGraph::make(*fabric).value();
  const Proof proof = prove(graph, route_minhop(graph, LinkSet::all(*fabric)));
  ASSERT_EQ(faults(proof), std::vector{Fault::Deadlock});
  for (std::size_t i = 0; i < proof.findings[0].steps.size(); ++i) {
    const auto& steps = proof.findings[0].steps;
    const Step& next = steps[(i + 1) % steps.size()];
    const auto hops = graph.hops(steps[i].sw);
    const auto hop =
        std::find_if(hops.begin(), hops.end(), [&](const Hop& h) { return h.out == steps[i].out; });
    ASSERT_NE(hop, hops.end());
    EXPECT_EQ(hop->peer, next.sw);
    EXPECT_EQ(route_minhop(graph, LinkSet::all(*fabric)).port(next.sw, steps[i].lid), next.out);
  }
}

TEST(Proof, AManagersPathsToEverySwitchAreRequired) {
  Ring ring;
  ring.tables.set(SwitchIndex{1}, Lid{1}, no_path);
  EXPECT_TRUE(prove(ring.graph, ring.tables).holds());
  ProofOptions options;
  options.managers = {Lid{5}};
  EXPECT_EQ(faults(prove(ring.graph, ring.tables, options)), std::vector{Fault::NoPath});
}

/// Links of a torus whose loss makes some mixture of old and new tables cyclic.
struct OneLinkOff {
  unsigned links = 0;
  unsigned needed = 0;  ///< no legal path would be left for some pair
  unsigned cyclic = 0;
  unsigned staged = 0;
};

OneLinkOff take_links_off_one_by_one(unsigned columns, unsigned rows) {
  OneLinkOff result;
  const auto fabric = shapes::torus(columns, rows, 1, 1).build();
  auto router = UpDownRouter::make(*fabric).value();
  const ForwardingTables before = router.tables();
  for (std::uint32_t i = 0; i < fabric->links().size(); ++i) {
    const Link& link = fabric->links()[i];
    if (fabric->node(link.b.node).type != NodeType::Switch) continue;
    ++result.links;
    LinkSet active = LinkSet::all(*fabric);
    active.erase(LinkIndex{i});
    router.update(active);
    if (!router.unconnected().empty()) {
      ++result.needed;
      continue;
    }
    const Proof mixed = prove_transition(router.graph(), before, router.tables());
    const auto found = faults(mixed);
    if (std::find(found.begin(), found.end(), Fault::Loop) != found.end()) ++result.cyclic;
    const ForwardingTables* both[] = {&before, &router.tables()};
    EXPECT_TRUE(prove(router.graph(), both).holds());

    const UpdatePlan plan =
        plan_update(router.graph(), router.ranks(), before, router.tables(), &router.mends()).value();
    if (!plan.safe_in_any_order()) ++result.staged;
    EXPECT_TRUE(mixed.holds() || !plan.safe_in_any_order());
    std::vector<ForwardingTables> steps{before};
    for (const auto& stage : plan.stages) {
      steps.push_back(steps.back());
      apply(stage, steps.back());
    }
    EXPECT_EQ(steps.back(), router.tables());
    std::vector<const ForwardingTables*> pointers;
    for (const ForwardingTables& step : steps) pointers.push_back(&step);
    const Proof staged = prove_stages(router.graph(), pointers);
    EXPECT_TRUE(staged.holds()) << describe(staged.findings[0], *fabric, router.graph());
  }
  return result;
}

TEST(Transition, TheKnownBadCaseOfATorusIsFoundAndStaged) {
  const OneLinkOff result = take_links_off_one_by_one(4, 4);
  EXPECT_EQ(result.links, 32U);
  EXPECT_EQ(result.needed, 4U);  // those of the four switches with one way up
  EXPECT_GE(result.cyclic, 8U);
  EXPECT_GE(result.staged, result.cyclic);
}

TEST(Transition, TurningMembersOfATrunkOffIsSafeInAnyOrder) {
  const auto fabric = shapes::two_level_tree(4, 2, 3, 3).build();
  auto router = UpDownRouter::make(*fabric).value();
  const ForwardingTables before = router.tables();
  LinkSet active = LinkSet::all(*fabric);
  active.erase(router.graph().hops(SwitchIndex{0})[0].link);
  active.erase(router.graph().hops(SwitchIndex{1})[1].link);
  router.update(active);
  const auto plan =
      plan_update(router.graph(), router.ranks(), before, router.tables(), &router.mends()).value();
  EXPECT_EQ(plan.stages.size(), 1U);
  EXPECT_TRUE(prove_transition(router.graph(), before, router.tables()).holds());
}

TEST(UpdatePlan, RefusesTablesThatDoNotFollowTheRanks) {
  const auto fabric = shapes::torus(4, 4, 1, 1).build();
  const auto router = UpDownRouter::make(*fabric).value();
  const auto plan = plan_update(router.graph(), router.ranks(),
                                route_minhop(router.graph(), LinkSet::all(*fabric)), router.tables());
  ASSERT_FALSE(plan);
  EXPECT_EQ(plan.error().code, ErrorCode::Refused);
}

/// Whether packets from all host switches arrive when the switches in `fresh` follow the new table.
bool mixture_works(const SwitchGraph& graph, const ForwardingTables& before, const ForwardingTables& after,
                   std::uint64_t fresh, const Target& target) {
  const HopMap map(graph);
  for (std::uint32_t start = 0; start < graph.size(); ++start) {
    if (graph.hosts_at(SwitchIndex{start}) == 0) continue;
    std::uint32_t s = start;
    for (std::size_t steps = 0; s != target.at.raw(); ++steps) {
      const auto& tables = (fresh >> s & 1U) != 0 ? after : before;
      const std::uint32_t hop = map.hop(s, tables.port(SwitchIndex{s}, target.base).raw());
      if (hop == HopMap::none || steps > graph.size()) return false;
      s = map.peer(hop);
    }
  }
  return true;
}

/// Tables for two sets of links of one random fabric, both connected.
struct Pair {
  std::shared_ptr<const Fabric> fabric;
  std::unique_ptr<UpDownRouter> router;
  ForwardingTables before;
};

Pair random_pair(unsigned most_switches) {
  const auto seed = *rc::gen::arbitrary<std::uint32_t>();
  const unsigned switches = *rc::gen::inRange(2U, most_switches);
  Pair pair;
  pair.fabric = shapes::tangle(switches, *rc::gen::inRange(1U, 2 * switches), 2 * switches, seed).build();
  pair.router = std::make_unique<UpDownRouter>(UpDownRouter::make(*pair.fabric).value());
  Random random(seed);
  for (unsigned k = 0; k < 2; ++k) {
    LinkSet active = LinkSet::all(*pair.fabric);
    for (std::uint32_t i = 0; i < pair.fabric->links().size(); ++i) {
      const Link& link = pair.fabric->links()[i];
      if (pair.fabric->node(link.b.node).type == NodeType::Switch && random.chance(0.25))
        active.erase(LinkIndex{i});
    }
    pair.router->update(active);
    RC_PRE(pair.router->unconnected().empty());
    if (k == 0) pair.before = pair.router->tables();
  }
  return pair;
}

TEST(TransitionProperty, TheCriterionIsExact) {
  EXPECT_TRUE(rc::check([] {
    const Pair pair = random_pair(8);
    const SwitchGraph& graph = pair.router->graph();
    const Proof proof =
        prove_transition(graph, pair.before, pair.router->tables(), {.managers = {}, .most_findings = 1000});
    std::vector<Lid> refuted;
    for (const Finding& finding : proof.findings) {
      if (finding.fault != Fault::Deadlock) refuted.push_back(finding.destination);
    }
    for (const Target& target : graph.targets()) {
      if (target.kind != TargetKind::Host) continue;
      bool all_work = true;
      for (std::uint64_t fresh = 0; fresh < (1U << graph.size()); ++fresh) {
        all_work = all_work && mixture_works(graph, pair.before, pair.router->tables(), fresh, target);
      }
      RC_ASSERT(all_work == (std::find(refuted.begin(), refuted.end(), target.base) == refuted.end()));
    }
  }));
}

TEST(TransitionProperty, PlansAreSafeAndOldAndNewTogetherAcyclic) {
  EXPECT_TRUE(rc::check([] {
    const Pair pair = random_pair(16);
    const SwitchGraph& graph = pair.router->graph();
    const ForwardingTables* both[] = {&pair.before, &pair.router->tables()};
    RC_ASSERT(prove(graph, both).holds());
    const UpdatePlan plan =
        plan_update(graph, pair.router->ranks(), pair.before, pair.router->tables(), &pair.router->mends())
            .value();
    std::vector<ForwardingTables> steps{pair.before};
    for (const auto& stage : plan.stages) {
      steps.push_back(steps.back());
      apply(stage, steps.back());
    }
    RC_ASSERT(steps.back() == pair.router->tables());
    std::vector<const ForwardingTables*> pointers;
    for (const ForwardingTables& step : steps) pointers.push_back(&step);
    // A mend may stand still for a while; nothing else may.
    const bool mended = !pair.router->mends().all().empty();
    for (const Finding& finding : prove_stages(graph, pointers).findings)
      RC_ASSERT(mended && finding.fault == Fault::NoPath);
    if (mended) return;
    for (std::size_t i = 0; i + 1 < steps.size(); ++i) {
      for (unsigned sample = 0; sample < 20; ++sample) {
        const auto fresh = *rc::gen::arbitrary<std::uint64_t>();
        const Target& target =
            *rc::gen::elementOf(std::vector<Target>(graph.targets().begin(), graph.targets().end()));
        if (target.kind == TargetKind::Host)
          RC_ASSERT(mixture_works(graph, steps[i], steps[i + 1], fresh, target));
      }
    }
  }));
}

}  // namespace
}  // namespace heddle::routing
