// Entries that lead to a switch without a way, when tables change around them.
#include <gtest/gtest.h>

#include <optional>

#include "fabric/generators.h"
#include "routing/hop_map.h"
#include "routing/update_plan.h"
#include "routing/updn.h"

namespace heddle::routing {
namespace {

/// Swarm worlds 3027, 3047 and 3059: after a cut a core has no way to a host, a spine still leads up to it,
/// and the leaf that is to use the spine again was led there in the stage in which the spine was mended.
TEST(DeadEnds, NobodyIsLedToASwitchBeforeItsOwnWayUpLeadsSomewhere) {
  const auto fabric = assign_lids(**generate("xgft:3;3,3,2;1,2,2")).value();
  auto router = UpDownRouter::make(*fabric).value();
  const SwitchGraph& graph = router.graph();
  const HopMap hops(graph);
  const ForwardingTables whole = router.tables();
  std::size_t cases = 0;
  for (const Target& target : graph.targets()) {
    const Lid lid = target.base;
    const auto next = [&](const ForwardingTables& tables, SwitchIndex s) -> std::optional<SwitchIndex> {
      const std::uint32_t hop = s == target.at ? HopMap::none : hops.hop(s.raw(), tables.port(s, lid).raw());
      return hop == HopMap::none ? std::nullopt : std::optional{SwitchIndex{hops.peer(hop)}};
    };
    for (std::uint32_t i = 0; i < graph.size(); ++i) {
      const SwitchIndex spine{i};
      const auto core = next(whole, spine);
      if (!core || !router.ranks().above(*core, spine) || !next(whole, *core)) continue;
      // The core's own cable down is cut, and nobody but the core has been written yet.
      LinkSet left = LinkSet::all(*fabric);
      for (const Hop& hop : graph.hops(*core)) {
        if (hop.out == whole.port(*core, lid)) left.erase(hop.link);
      }
      router.update(left);
      const ForwardingTables after = router.tables();
      if (after.port(*core, lid) != no_path || after.port(spine, lid) == no_path) continue;
      for (const Hop& down : graph.hops(spine)) {
        const SwitchIndex leaf = down.peer;
        if (!router.ranks().above(spine, leaf) || next(after, leaf) != spine) continue;
        ForwardingTables before = after;
        before.set(spine, lid, whole.port(spine, lid));
        for (const Hop& up : graph.hops(leaf)) {
          if (up.peer != spine && router.ranks().above(up.peer, leaf)) before.set(leaf, lid, up.out);
        }
        const auto plan = plan_update(graph, router.ranks(), before, after).value();
        std::optional<std::size_t> spine_at;
        std::optional<std::size_t> leaf_at;
        for (std::size_t stage = 0; stage < plan.stages.size(); ++stage) {
          for (const EntryWrite& write : plan.stages[stage]) {
            if (write.lid == lid && write.sw == spine) spine_at = stage;
            if (write.lid == lid && write.sw == leaf) leaf_at = stage;
          }
        }
        ASSERT_TRUE(spine_at && leaf_at);
        EXPECT_LT(*spine_at, *leaf_at) << "LID " << lid.raw();
        ++cases;
      }
    }
  }
  EXPECT_GT(cases, 0U);
}

}  // namespace
}  // namespace heddle::routing
