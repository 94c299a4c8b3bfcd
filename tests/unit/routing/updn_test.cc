#include "routing/updn.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include "fabric/generators.h"
#include "routing/quality.h"
#include "unit/routing/test_fabrics.h"

namespace heddle::routing {
namespace {

using shapes::Sketch;

/// Follows every LID from every switch: each hop active, never up after down; reaches it where a legal path
/// exists. What is mended is another test's.
void expect_legal(const UpDownRouter& router, const LinkSet& active) {
  const SwitchGraph& graph = router.graph();
  for (const Target& target : graph.targets()) {
    if (target.link != no_link && !active.contains(target.link)) continue;
    for (std::uint32_t start = 0; start < graph.size(); ++start) {
      const Lid lid{static_cast<std::uint16_t>(target.base.raw() + target.lid_count() - 1)};
      SwitchIndex s{start};
      bool descending = false;
      std::size_t steps = 0;
      while (s != target.at) {
        const PortNum out = router.tables().port(s, lid);
        if (router.paths().distance(s, target.at) == LegalPaths::far) {
          const bool mended = s == SwitchIndex{start} && router.mends().find(s, target.at) != Mends::none;
          ASSERT_TRUE(mended || out == no_path);
          break;
        }
        const auto hops = graph.hops(s);
        const auto hop = std::find_if(hops.begin(), hops.end(), [&](const Hop& h) { return h.out == out; });
        ASSERT_NE(hop, hops.end());
        ASSERT_TRUE(active.contains(hop->link));
        const bool down = router.ranks().above(s, hop->peer);
        ASSERT_TRUE(down || !descending);
        descending = down;
        s = hop->peer;
        ASSERT_LE(++steps, graph.size());
      }
      if (s == target.at) {
        ASSERT_EQ(router.tables().port(s, lid), target.out);
      }
    }
  }
}

double imbalance(const Fabric& fabric, unsigned planes = 1) {
  const auto router = UpDownRouter::make(fabric, {{}, {}, planes}).value();
  const Loads loads = all_to_all(router.graph(), router.tables());
  EXPECT_EQ(loads.lost, 0);
  return loads.largest() / loads.mean(router.graph(), LinkSet::all(fabric));
}

LinkSet random_subset(const Fabric& fabric, std::uint64_t seed, double share_off) {
  Random random(seed);
  LinkSet active = LinkSet::all(fabric);
  for (std::uint32_t i = 0; i < fabric.links().size(); ++i) {
    if (random.chance(share_off)) active.erase(LinkIndex{i});
  }
  return active;
}

TEST(Ranks, TopsOfATreeAreRootsWhateverTheGuids) {
  Sketch sketch = shapes::three_level_tree(3);
  sketch.shuffle(5);
  const auto fabric = sketch.build();
  const SwitchGraph graph = SwitchGraph::make(*fabric).value();
  const Ranks ranks = rank_candidates(graph).front();
  for (std::uint32_t s = 0; s < graph.size(); ++s) {
    const bool has_hosts = graph.hosts_at(SwitchIndex{s}) != 0;
    EXPECT_EQ(ranks.rank(SwitchIndex{s}) == 2, has_hosts);
  }
}

TEST(Ranks, RefusesARootThatDoesNotExistAndOneNamedTwice) {
  const auto fabric = shapes::two_level_tree(2, 2, 1).build();
  const SwitchGraph graph = SwitchGraph::make(*fabric).value();
  const auto missing = rank_from_roots(graph, std::vector{NodeGuid{0xbad}});
  ASSERT_FALSE(missing);
  EXPECT_THAT(missing.error().message, testing::HasSubstr("0x0000000000000bad"));
  const auto twice = rank_from_roots(graph, std::vector{NodeGuid{0x102}, NodeGuid{0x102}});
  ASSERT_FALSE(twice);
  EXPECT_THAT(twice.error().message, testing::HasSubstr("twice"));
}

TEST(UpDown, EveryLinkOfAFullTreeCarriesTheSame) {
  for (const std::uint8_t lmc : {0, 1, 2, 3}) {
    for (const std::uint64_t seed : {0U, 1U, 2U}) {
      Sketch sketch = shapes::three_level_tree(6);
      if (seed != 0) sketch.shuffle(seed);
      EXPECT_LE(imbalance(*sketch.build(lmc)), 1.04) << "LMC " << int{lmc} << " seed " << seed;
    }
  }
}

// 1.03 is what the shape itself gives at this size: leaf links carry 1016 units, the upper ones 960.
TEST(UpDown, BalanceOfTheTreeOf1024Hosts) {
  const auto bare = generate("tree:k=8,n=3,full").value();
  EXPECT_LE(imbalance(*assign_lids(*bare, 0).value()), 1.03);
  EXPECT_LE(imbalance(*assign_lids(*bare, 1).value()), 1.03);
  Sketch shuffled = shapes::three_level_tree(8);
  shuffled.shuffle(3);
  EXPECT_LE(imbalance(*shuffled.build(0)), 1.03);
  EXPECT_LE(imbalance(*shuffled.build(1)), 1.03);
}

TEST(UpDown, TrunksCarryEqualShares) {
  EXPECT_LE(imbalance(*shapes::two_level_tree(8, 3, 12, 4).build()), 1.01);
  EXPECT_LE(imbalance(*shapes::two_level_tree(8, 3, 12, 4).build(2)), 1.01);
}

TEST(UpDown, LidsOfAPortTakeDifferentPaths) {
  const auto fabric = shapes::two_level_tree(4, 2, 3).build(1);
  const auto router = UpDownRouter::make(*fabric).value();
  for (const Target& target : router.graph().targets()) {
    if (target.kind != TargetKind::Host) continue;
    for (std::uint32_t s = 0; s < router.graph().size(); ++s) {
      if (router.graph().hosts_at(SwitchIndex{s}) == 0 || SwitchIndex{s} == target.at) continue;
      EXPECT_NE(router.tables().port(SwitchIndex{s}, target.base),
                router.tables().port(SwitchIndex{s}, Lid{static_cast<std::uint16_t>(target.base.raw() + 1)}));
    }
  }
}

TEST(UpDown, PlanesKeepTheirOwnLinks) {
  const auto fabric = shapes::two_level_tree(4, 2, 3).build(1);
  auto router = UpDownRouter::make(*fabric, {{}, {}, 2}).value();
  const ForwardingTables before = router.tables();
  LinkSet active = LinkSet::all(*fabric);
  active.erase(router.graph().hops(SwitchIndex{0})[0].link);
  EXPECT_FALSE(router.update(1, active).empty());
  for (const Target& target : router.graph().targets()) {
    for (std::uint32_t s = 0; s < router.graph().size(); ++s) {
      EXPECT_EQ(router.tables().port(SwitchIndex{s}, target.base), before.port(SwitchIndex{s}, target.base));
    }
  }
  EXPECT_EQ(router.active(0), LinkSet::all(*fabric));
}

TEST(UpDown, RanksByGuidGiveTheSameTables) {
  const auto fabric = shapes::tangle(12, 14, 20, 3).build();
  const auto first = UpDownRouter::make(*fabric).value();
  UpDownOptions options;
  for (std::uint32_t s = 0; s < first.graph().size(); ++s) {
    options.ranks.emplace_back(first.graph().guid(SwitchIndex{s}), first.ranks().rank(SwitchIndex{s}));
  }
  EXPECT_EQ(UpDownRouter::make(*fabric, options).value().tables(), first.tables());
  options.ranks.pop_back();
  EXPECT_FALSE(UpDownRouter::make(*fabric, options));
}

TEST(UpDown, AHostWhoseLinkIsOffHasNoPath) {
  const auto fabric = shapes::two_level_tree(2, 2, 2).build();
  auto router = UpDownRouter::make(*fabric).value();
  const Target host = router.graph().targets().back();
  LinkSet active = LinkSet::all(*fabric);
  active.erase(host.link);
  router.update(active);
  for (std::uint32_t s = 0; s < router.graph().size(); ++s) {
    EXPECT_EQ(router.tables().port(SwitchIndex{s}, host.base), no_path);
  }
}

TEST(UpDown, AFabricInPartsIsSaid) {
  Sketch sketch(2);
  sketch.hosts(0, 1);
  sketch.hosts(1, 1);
  EXPECT_EQ(UpDownRouter::make(*sketch.build()).value().unconnected().size(), 2U);
}

TEST(UpDownProperty, RandomFabricsAndLinksAreConnectedAndLegal) {
  EXPECT_TRUE(rc::check([] {
    const auto seed = *rc::gen::arbitrary<std::uint32_t>();
    const unsigned switches = *rc::gen::inRange(1U, 14U);
    const auto fabric = shapes::tangle(switches, *rc::gen::inRange(0U, 20U), 2 * switches, seed)
                            .build(*rc::gen::inRange<std::uint8_t>(0, 3));
    auto router = UpDownRouter::make(*fabric).value();
    RC_ASSERT(router.unconnected().empty());
    expect_legal(router, LinkSet::all(*fabric));
    const LinkSet active = random_subset(*fabric, seed, 0.2);
    router.update(active);
    expect_legal(router, active);
  }));
}

TEST(UpDownProperty, IncrementalEqualsFull) {
  EXPECT_TRUE(rc::check([] {
    const auto seed = *rc::gen::arbitrary<std::uint32_t>();
    const auto fabric = *rc::gen::arbitrary<bool>() ? shapes::tangle(12, 20, 30, seed).build(1)
                                                    : shapes::two_level_tree(5, 3, 4, 2).build(1);
    UpDownOptions options;
    options.planes = *rc::gen::element(1U, 2U);
    auto walked = UpDownRouter::make(*fabric, options).value();
    LinkSet active = LinkSet::all(*fabric);
    for (unsigned step = 0; step < 5; ++step) {
      active = random_subset(*fabric, seed + step, 0.05 * (step + 1));
      const ForwardingTables before = walked.tables();
      const auto changes = walked.update(active);
      std::vector<BlockRef> at;
      for (const BlockChange& change : changes) {
        at.push_back(change.at);
        const auto block = before.block(change.at.sw, change.at.block);
        RC_ASSERT(std::equal(block.begin(), block.end(), change.before.begin()));
      }
      RC_ASSERT(at == differing_blocks(before, walked.tables()));
    }
    auto straight = UpDownRouter::make(*fabric, options).value();
    straight.update(active);
    RC_ASSERT(straight.tables() == walked.tables());
    walked.update(LinkSet::all(*fabric));
    RC_ASSERT(UpDownRouter::make(*fabric, options).value().tables() == walked.tables());
    for (unsigned plane = 0; plane < options.planes; ++plane) walked.route(plane, active);
    RC_ASSERT(straight.tables() == walked.tables());
  }));
}

// Few links at a time on a fabric of some size: a row is then mended entry by entry.
TEST(LegalPathsTest, UpdatedEqualsMade) {
  for (const std::string spec : {"torus:10x10,hosts=1,links=1", "xgft:3;4,6,6;1,4,4",
                                 "random:switches=90,hosts=10,links=130,ports=16"}) {
    SCOPED_TRACE(spec);
    const auto fabric = *generate(spec);
    const auto graph = SwitchGraph::make(*fabric).value();
    const Ranks ranks = rank_candidates(graph).front();
    Random random(7);
    LinkSet active = LinkSet::all(*fabric);
    LegalPaths paths(graph, ranks, &active);
    for (unsigned step = 0; step < 12; ++step) {
      const LinkSet before = active;
      for (std::uint64_t n = 1 + random.below(step == 4 ? 100 : 2); n > 0; --n) {
        const LinkIndex link{static_cast<std::uint32_t>(random.below(active.universe()))};
        if (active.contains(link)) {
          active.erase(link);
        } else {
          active.insert(link);
        }
      }
      std::vector<LinkIndex> changed;
      LinkSet::for_each_difference(before, active, [&](LinkIndex link) { changed.push_back(link); });
      const LegalPaths old = paths;
      const auto affected = paths.update(active, changed);
      const LegalPaths made(graph, ranks, &active);
      for (std::uint32_t i = 0; i < graph.size(); ++i) {
        const SwitchIndex s{i};
        ASSERT_TRUE(std::ranges::equal(paths.down(s), made.down(s)));
        ASSERT_TRUE(std::ranges::equal(paths.distance(s), made.distance(s)));
        for (std::uint32_t d = 0; d < graph.size(); ++d) {
          if (old.distance(s)[d] == made.distance(s)[d] && old.down(s)[d] == made.down(s)[d]) continue;
          const auto at = std::ranges::find(affected, s, &LegalPaths::Affected::sw);
          ASSERT_NE(at, affected.end());
          ASSERT_TRUE(std::ranges::binary_search(at->destinations, SwitchIndex{d}));
        }
      }
    }
  }
}

}  // namespace
}  // namespace heddle::routing
