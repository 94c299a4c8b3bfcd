// Fabrics as sites grow them: trees with islands, hosts at several levels, trunks of different size, missing
// cables.

#include <gtest/gtest.h>

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>

#include "fabric/generators.h"
#include "routing/minhop.h"
#include "routing/proof.h"
#include "routing/quality.h"
#include "routing/updn.h"

namespace heddle::routing {
namespace {

std::shared_ptr<const Fabric> grown(unsigned seed, unsigned hosts) {
  return assign_lids(**generate(fmt::format("grown:seed={},hosts={}", seed, hosts))).value();
}

/// Sizes that a unit test can afford, one for each seed.
unsigned hosts_of(unsigned seed) { return 20 + seed * 37 % 230; }

void expect_sound_tables(unsigned seed) {
  SCOPED_TRACE(fmt::format("seed {}, {} hosts", seed, hosts_of(seed)));
  const auto fabric = grown(seed, hosts_of(seed));
  const auto router = UpDownRouter::make(*fabric).value();
  ASSERT_TRUE(router.unconnected().empty());
  const Proof proof = prove(router.graph(), router.tables());
  ASSERT_TRUE(proof.holds()) << describe(proof.findings[0], *fabric, router.graph());
  const Loads loads = all_to_all(router.graph(), router.tables());
  EXPECT_EQ(loads.lost, 0);
  const Loads cyclic = all_to_all(router.graph(), route_minhop(router.graph(), LinkSet::all(*fabric)));
  EXPECT_LE(loads.largest(), 1.3 * cyclic.largest());
}

TEST(Grown, TablesAreCompleteAndAcyclicAndNearlyAsEvenAsMinhop) {
  const unsigned seeds = std::getenv("HEDDLE_NIGHT") == nullptr ? 60 : 300;
  for (unsigned seed = 1; seed <= seeds; ++seed) expect_sound_tables(seed);
  // No rule for all switches makes an order that is even enough there.
  for (const unsigned seed : {172U, 246U, 254U}) expect_sound_tables(seed);
}

// Every rule for all switches leaves a link there that carries half as much again as it needs to.
TEST(Grown, AnOrderIsMendedWhereOneSwitchIsInTheWrongPlace) {
  for (const unsigned seed : {15U, 103U, 245U, 288U}) {
    SCOPED_TRACE(fmt::format("seed {}, {} hosts", seed, hosts_of(seed)));
    const auto fabric = grown(seed, hosts_of(seed));
    const auto router = UpDownRouter::make(*fabric).value();
    const double bound =
        std::max(whole_lid_bound(router.graph()), lower_bound(router.graph(), LinkSet::all(*fabric)));
    EXPECT_LE(all_to_all(router.graph(), router.tables()).largest(), 1.1 * bound);
  }
}

// The same bound from whichever switch sets are grown first: a ring of eight, cut in two by any two cables.
TEST(LowerBound, IsWhatTheNarrowestSetMustPass) {
  const auto fabric = assign_lids(**generate("torus:8,hosts=1")).value();
  const auto graph = SwitchGraph::make(*fabric).value();
  EXPECT_EQ(lower_bound(graph, LinkSet::all(*fabric)), 8);
}

TEST(Grown, AnyHostMayManageEverySwitchByLid) {
  for (unsigned seed = 1; seed <= 20; ++seed) {
    SCOPED_TRACE(fmt::format("seed {}, {} hosts", seed, hosts_of(seed)));
    const auto fabric = grown(seed, hosts_of(seed));
    const auto router = UpDownRouter::make(*fabric).value();
    ProofOptions options;
    for (const Target& target : router.graph().targets()) {
      if (target.kind == TargetKind::Host) options.managers.push_back(target.base);
    }
    const Proof proof = prove(router.graph(), router.tables(), options);
    // What no table joins is named, and only that is missing.
    EXPECT_EQ(proof.broken != 0, !router.mends().left().empty());
    for (const Finding& finding : proof.findings) EXPECT_EQ(finding.fault, Fault::NoPath);
  }
}

// What a trunk keeps is nobody else's business, as for other paths.
TEST(Grown, AMendThatLosesACableStaysWithTheRestOfItsTrunk) {
  std::size_t tried = 0;
  for (unsigned seed = 1; seed <= 40; ++seed) {
    SCOPED_TRACE(fmt::format("seed {}, {} hosts", seed, hosts_of(seed)));
    const auto fabric = grown(seed, hosts_of(seed));
    auto router = UpDownRouter::make(*fabric).value();
    const SwitchGraph& graph = router.graph();
    const ForwardingTables before = router.tables();
    const Destinations destinations(graph);
    std::size_t of_this = 0;
    for (const Mends::Mend& mend : router.mends().all()) {
      const auto ways = router.mends().ways(mend);
      const Mends::Way& lost = ways.front();
      const auto twins = std::count_if(ways.begin(), ways.end(),
                                       [&](const Mends::Way& way) { return way.peer == lost.peer; });
      if (twins < 2 || twins == std::ssize(ways) || ++of_this > 3) continue;
      ++tried;
      LinkSet active = LinkSet::all(*fabric);
      active.erase(lost.link);
      router.update(active);
      for (const Destination& lid : destinations.at(mend.to)) {
        if (before.port(mend.at, lid.lid) != lost.out) continue;
        const PortNum now = router.tables().port(mend.at, lid.lid);
        const auto way =
            std::find_if(ways.begin(), ways.end(), [&](const Mends::Way& each) { return each.out == now; });
        ASSERT_NE(way, ways.end());
        EXPECT_EQ(way->peer, lost.peer);
      }
      router.update(LinkSet::all(*fabric));
    }
  }
  EXPECT_GT(tried, 0U);
}

TEST(Grown, OneLinkChangesOnlyWhatDependsOnIt) {
  for (unsigned seed = 1; seed <= 20; ++seed) {
    SCOPED_TRACE(fmt::format("seed {}, {} hosts", seed, hosts_of(seed)));
    const auto fabric = grown(seed, hosts_of(seed));
    auto router = UpDownRouter::make(*fabric).value();
    const ForwardingTables before = router.tables();
    const SwitchGraph& graph = router.graph();
    const SwitchIndex at{seed % static_cast<std::uint32_t>(graph.size())};
    if (graph.hops(at).empty()) continue;
    const Hop& hop = graph.hops(at)[seed % graph.hops(at).size()];
    LinkSet active = LinkSet::all(*fabric);
    active.erase(hop.link);
    router.update(active);
    const Proof proof = prove(graph, router.tables(), {&active, {}, nullptr, 3});
    EXPECT_TRUE(proof.holds() || !router.unconnected().empty());
    std::size_t changed = 0;
    std::size_t over_it = 0;
    for (std::uint32_t s = 0; s < graph.size(); ++s) {
      for (const Target& target : graph.targets()) {
        const SwitchIndex sw{s};
        changed += router.tables().port(sw, target.base) != before.port(sw, target.base) ? 1 : 0;
        const PortNum out = before.port(sw, target.base);
        over_it += (sw == at && out == hop.out) || (sw == hop.peer && out == hop.in) ? 1 : 0;
      }
    }
    EXPECT_GE(changed, over_it);
    router.update(LinkSet::all(*fabric));
    EXPECT_EQ(router.tables(), before);
  }
}

}  // namespace
}  // namespace heddle::routing
