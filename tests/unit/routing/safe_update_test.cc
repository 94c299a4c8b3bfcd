// Orders of writing that suit the packets of all LIDs together.
#include "routing/safe_update.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>

#include "fabric/generators.h"
#include "routing/updn.h"
#include "unit/routing/passing.h"

namespace heddle::routing {
namespace {

using changes::arrives_by;
using changes::Passing;
using changes::without_cables;
using changes::without_some;

/// Of all these cables, in the order of one who did not know some of them.
UpDownRouter made_anew(const Fabric& fabric, const UpDownRouter& earlier) {
  UpDownOptions options;
  for (std::uint32_t s = 0; s < earlier.graph().size(); ++s)
    options.ranks.emplace_back(earlier.graph().guid(SwitchIndex{s}), earlier.ranks().rank(SwitchIndex{s}));
  return UpDownRouter::make(fabric, options).value();
}

/// A random fabric whose cables a daemon did not all see when it was started, with its tables and those of
/// now.
struct CablesThatCame {
  std::shared_ptr<const Fabric> fabric;
  UpDownRouter earlier;
  UpDownRouter router;
};

CablesThatCame cables_that_came(std::uint64_t seed) {
  const auto fabric =
      assign_lids(**generate(fmt::format("random:switches=10,hosts=20,links=20,seed={}", seed))).value();
  Random random(seed);
  const auto part = without_cables(*fabric, without_some(*fabric, 1 + random.below(4), random));
  auto earlier = UpDownRouter::make(*part).value();
  auto router = made_anew(*fabric, earlier);
  return {fabric, std::move(earlier), std::move(router)};
}

// World 1070147 of the swarm: cables come that a daemon did not see when it was started, the mends become
// others, and LIDs are left of which each would close a circle with those of before.
TEST(SafeUpdate, LidsThatCanChangeInNoOrderGoAThirdWayFirst) {
  for (const std::uint64_t seed : {75, 194, 346}) {
    const auto [fabric, earlier, router] = cables_that_came(seed);
    const UpdateOrder order{router.graph(), router.ranks(), router.mends()};
    ForwardingTables tables = earlier.tables();
    const auto update =
        plan_safe_update(order, tables, router.tables(), differing_blocks(tables, router.tables()));
    EXPECT_TRUE(update.circular.empty()) << "seed " << seed;
    EXPECT_FALSE(update.third_ways.empty()) << "it would have been so anyhow: seed " << seed;
    Passing passing(router.graph());
    passing.carry_out(update.plan.stages, tables);
    EXPECT_EQ(tables, router.tables());
    EXPECT_FALSE(passing.has_circle()) << "seed " << seed;
  }
}

// What is about to go off is not led over, and who has no third way changes all the same.
TEST(SafeUpdate, AThirdWayLeadsOverLinksThatStay) {
  std::size_t without = 0;
  for (const std::uint64_t seed : {75, 194, 346}) {
    const auto [fabric, earlier, router] = cables_that_came(seed);
    const LinkSet stays = LinkSet::none(*fabric);
    const UpdateOrder order{router.graph(), router.ranks(), router.mends(), nullptr, &stays};
    ForwardingTables tables = earlier.tables();
    const auto update =
        plan_safe_update(order, tables, router.tables(), differing_blocks(tables, router.tables()));
    EXPECT_FALSE(update.circular.empty());
    without += update.third_ways.size();
    for (const auto& stage : update.plan.stages) (void)apply(stage, tables);
    EXPECT_EQ(tables, router.tables());
  }
  EXPECT_EQ(without, 0U);
}

// Worlds 426593039 and 715392120 of the swarm: nor is there a third way, and all were written in a circle.
TEST(SafeUpdate, LidsThatCouldOnlyCloseACircleStayAsTheyAre) {
  for (const std::uint64_t seed : {70, 123, 268}) {
    const auto [fabric, earlier, router] = cables_that_came(seed);
    const SwitchGraph& graph = router.graph();
    const UpdateOrder order{graph, router.ranks(), router.mends()};
    ForwardingTables tables = earlier.tables();
    const auto update =
        plan_safe_update(order, tables, router.tables(), differing_blocks(tables, router.tables()),
                         {.may_stay = MayStay::Yes});
    EXPECT_FALSE(update.staying.empty()) << "seed " << seed;
    EXPECT_TRUE(update.circular.empty()) << "seed " << seed;
    Passing passing(graph);
    passing.carry_out(update.plan.stages, tables);
    EXPECT_FALSE(passing.has_circle()) << "seed " << seed;
    for (const Target& target : graph.targets()) {
      for (std::uint32_t s = 0; s < graph.size(); ++s) {
        const SwitchIndex from{s};
        const bool wanted = arrives_by(graph, router.tables(), from, target, target.base);
        EXPECT_TRUE(!wanted || arrives_by(graph, tables, from, target, target.base)) << "seed " << seed;
      }
    }
  }
}

}  // namespace
}  // namespace heddle::routing
