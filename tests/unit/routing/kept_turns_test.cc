#include "routing/kept_turns.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "fabric/generators.h"
#include "routing/updn.h"
#include "unit/routing/passing.h"

namespace heddle::routing {
namespace {

using changes::without_cables;
using changes::without_some;

// Worlds 631665850 and 312231438 of the swarm: cables had come back, and hosts had no path to one another for
// good, because the turns of the tables that stood were kept at any price. World 4000020013: nobody had a
// path to a switch without hosts, and its links were taken out of use.
TEST(KeptTurns, ThatWouldLeaveAnyoneApartAreNot) {
  std::size_t apart_else = 0;
  std::size_t others_apart_else = 0;
  std::size_t kept = 0;
  for (std::uint64_t seed = 1; seed <= 150; ++seed) {
    const auto fabric =
        assign_lids(**generate(fmt::format("random:switches=10,hosts=20,links=20,seed={}", seed))).value();
    Random random(seed);
    const auto part = without_cables(*fabric, without_some(*fabric, 1 + random.below(4), random));
    const auto earlier = UpDownRouter::make(*part);
    if (!earlier) continue;
    const auto graph = SwitchGraph::make(*fabric).value();
    std::vector<std::uint16_t> rank;
    for (std::uint32_t s = 0; s < graph.size(); ++s) rank.push_back(earlier->ranks().rank(SwitchIndex{s}));
    const Ranks ranks(graph, rank);
    const LegalPaths full(graph, ranks, nullptr);
    const auto turns = turns_of(graph, standing_turns(graph, ranks, earlier->tables()));
    const Mends without{graph, ranks, full};
    const Mends with_all{graph, ranks, full, turns};
    const Mends mends = mends_with(graph, ranks, full, turns);
    EXPECT_LE(hosts_apart(graph, mends), hosts_apart(graph, without)) << "seed " << seed;
    EXPECT_LE(mends.left().size(), without.left().size()) << "seed " << seed;
    apart_else += hosts_apart(graph, with_all) > hosts_apart(graph, without) ? 1 : 0;
    others_apart_else += with_all.left().size() > without.left().size() ? 1 : 0;
    for (const Turn& turn : turns) kept += mends.turns(turn.from, turn.over, turn.to) ? 1 : 0;
  }
  EXPECT_GT(apart_else, 0U) << "it would not have been so anyhow";
  EXPECT_GT(others_apart_else, apart_else) << "it would not have been so anyhow";
  EXPECT_GT(kept, 100U);
}

}  // namespace
}  // namespace heddle::routing
