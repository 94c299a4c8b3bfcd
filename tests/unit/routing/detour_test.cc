// How evenly LIDs are spread that lose their home port.

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "routing/quality.h"
#include "routing/updn.h"
#include "unit/routing/test_fabrics.h"

namespace heddle::routing {
namespace {

/// The fullest of all hops that carry anything, over their mean, where every leaf of a tree of three levels
/// keeps so many ways up, to the same middle switches everywhere.
double imbalance_where_leaves_keep(std::size_t ways, const shapes::Sketch& sketch, std::uint8_t lmc) {
  const auto fabric = sketch.build(lmc);
  auto router = UpDownRouter::make(*fabric).value();
  const SwitchGraph& graph = router.graph();
  // Middle switches of one number are joined to the same tops.
  const auto number = [&](SwitchIndex middle) {
    std::uint32_t highest = 0xffffffffU;
    for (const Hop& hop : graph.hops(middle)) highest = std::min(highest, router.ranks().position(hop.peer));
    return highest;
  };
  LinkSet active = LinkSet::all(*fabric);
  for (std::uint32_t s = 0; s < graph.size(); ++s) {
    if (graph.hosts_at(SwitchIndex{s}) == 0) continue;
    std::vector<Hop> up(graph.hops(SwitchIndex{s}).begin(), graph.hops(SwitchIndex{s}).end());
    std::ranges::sort(up, {}, [&](const Hop& hop) { return number(hop.peer); });
    for (std::size_t i = ways; i < up.size(); ++i) active.erase(up[i].link);
  }
  router.route(0, active);
  const Loads loads = all_to_all(graph, router.tables());
  EXPECT_EQ(loads.lost, 0);
  double sum = 0;
  std::size_t used = 0;
  for (const double load : loads.hop) {
    sum += load;
    used += load > 0 ? 1 : 0;
  }
  return loads.largest() / (sum / static_cast<double>(used));
}

// What loses its port is dealt in turns, and what comes to a middle switch leaves it in turns too: where both
// keep step, one link in a few gets all.
TEST(Detour, FillsEvenlyWhatLeavesKeep) {
  for (const std::uint8_t lmc : {0, 1}) {
    for (const std::size_t ways : {2U, 3U, 4U}) {
      for (const std::uint64_t seed : {0U, 1U, 2U}) {
        shapes::Sketch sketch = shapes::three_level_tree(6);
        if (seed != 0) sketch.shuffle(seed);
        EXPECT_LE(imbalance_where_leaves_keep(ways, sketch, lmc), 1.5)
            << ways << " of 6 ways, LMC " << int{lmc} << ", seed " << seed;
      }
    }
  }
}

}  // namespace
}  // namespace heddle::routing
