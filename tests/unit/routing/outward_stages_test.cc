#include "routing/outward_stages.h"

#include <gtest/gtest.h>

#include "base/random.h"
#include "fabric/generators.h"
#include "routing/minhop.h"
#include "routing/updn.h"

namespace heddle::routing {
namespace {

/// Whether what is at `from` comes to the destination.
bool arrives(const SwitchGraph& graph, const ForwardingTables& tables, const Target& target, Lid lid,
             SwitchIndex from) {
  for (std::size_t hops = 0; hops <= graph.size(); ++hops) {
    const PortNum out = tables.port(from, lid);
    if (from == target.at) return out == target.out;
    SwitchIndex next = no_switch;
    for (const Hop& hop : graph.hops(from)) {
      if (hop.out == out) next = hop.peer;
    }
    if (next == no_switch) return false;
    from = next;
  }
  return false;
}

// From shortest paths to those of an order, and from one order to another: half-written ones lead there too.
TEST(OutwardStages, NoMixtureTakesAPathAway) {
  Random random{3};
  for (const char* spec :
       {"torus:4x4,hosts=1,links=2", "tree:k=3,n=3", "random:switches=10,hosts=20,links=20,seed=5"}) {
    const auto fabric = assign_lids(**generate(spec), 1).value();
    const auto graph = SwitchGraph::make(*fabric).value();
    const ForwardingTables shortest = route_minhop(graph, LinkSet::all(*fabric));
    UpDownOptions options;
    for (std::uint32_t s = 0; s < graph.size(); ++s)
      options.ranks.emplace_back(graph.guid(SwitchIndex{s}), static_cast<std::uint16_t>(random.below(100)));
    const ForwardingTables ordered = UpDownRouter::make(*fabric)->tables();
    const ForwardingTables other = UpDownRouter::make(*fabric, options)->tables();
    std::vector<Lid> lids;
    for (const Target& target : graph.targets()) {
      for (unsigned i = 0; i < target.lid_count(); ++i)
        lids.push_back(Lid{static_cast<std::uint16_t>(target.base.raw() + i)});
    }
    for (const auto& [before, after] : {std::pair{&shortest, &ordered}, std::pair{&ordered, &other}}) {
      ForwardingTables now = *before;
      for (const auto& stage : outward_stages(graph, *before, *after, lids)) {
        for (int mixture = 0; mixture < 4; ++mixture) {
          ForwardingTables half = now;
          for (const EntryWrite& write : stage) {
            if (random.chance(0.5)) half.set(write.sw, write.lid, write.port);
          }
          for (const Target& target : graph.targets()) {
            for (std::uint32_t s = 0; s < graph.size(); ++s) {
              if (!arrives(graph, *before, target, target.base, SwitchIndex{s})) continue;
              if (!arrives(graph, *after, target, target.base, SwitchIndex{s})) continue;
              ASSERT_TRUE(arrives(graph, half, target, target.base, SwitchIndex{s}));
            }
          }
        }
        for (const EntryWrite& write : stage) now.set(write.sw, write.lid, write.port);
      }
      EXPECT_EQ(now, *after);
    }
  }
}

}  // namespace
}  // namespace heddle::routing
