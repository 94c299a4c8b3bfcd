#include "routing/outward_stages.h"

#include <gtest/gtest.h>

#include <set>
#include <utility>
#include <vector>

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

/// The tables after each stage, and those stages that wait until older packets are gone.
struct History {
  std::vector<ForwardingTables> tables;
  std::vector<char> waits;
};

History history(const ForwardingTables& before, const std::vector<std::vector<EntryWrite>>& stages) {
  History history{{before}, {0}};
  for (const auto& stage : stages) {
    history.tables.push_back(history.tables.back());
    history.waits.push_back(0);
    for (const EntryWrite& write : stage) {
      history.tables.back().set(write.sw, write.lid, write.port);
      if (write.change == Change::Loses) history.waits.back() = 1;
    }
  }
  return history;
}

/// Whether a packet that `from` sends when `sent` stages are written comes to the destination, however long
/// it is queued on the way: each switch may be at any later stage, until the next that waits.
bool arrives_late(const SwitchGraph& graph, const History& history, const Target& target, Lid lid,
                  SwitchIndex from, std::size_t sent) {
  std::size_t end = sent + 1;
  while (end < history.tables.size() && history.waits[end] == 0) ++end;
  std::set<std::pair<SwitchIndex, std::size_t>> seen;
  std::vector<std::pair<SwitchIndex, std::size_t>> queue{{from, sent}};
  while (!queue.empty()) {
    const auto [at, since] = queue.back();
    queue.pop_back();
    for (std::size_t stage = since; stage < (at == from ? sent + 1 : end); ++stage) {
      const PortNum out = history.tables[stage].port(at, lid);
      if (at == target.at) {
        if (out != target.out) return false;
        continue;
      }
      SwitchIndex next = no_switch;
      for (const Hop& hop : graph.hops(at)) {
        if (hop.out == out) next = hop.peer;
      }
      if (next == no_switch) return false;
      if (seen.emplace(next, stage).second) queue.emplace_back(next, stage);
    }
  }
  return true;
}

// A spine that led to another by way of a leaf, while that had lost its own link, leads there no more.
TEST(OutwardStages, WhatLosesItsPathWaitsForPackets) {
  const auto fabric = assign_lids(**generate("xgft:3;3,3,2;1,2,2"), 0).value();
  const auto graph = SwitchGraph::make(*fabric).value();
  const auto router = UpDownRouter::make(*fabric).value();
  const ForwardingTables& after = router.tables();
  const UpdateOrder order{graph, router.ranks(), router.mends()};
  for (std::uint32_t l = 0; l < fabric->links().size(); ++l) {
    LinkSet without = LinkSet::all(*fabric);
    without.erase(LinkIndex{l});
    const ForwardingTables before = route_minhop(graph, without);
    for (const Target& target : graph.targets()) {
      const auto stages = outward_stages(order, before, after, std::vector{target.base}).stages;
      const History versions = history(before, stages);
      for (std::uint32_t s = 0; s < graph.size(); ++s) {
        const SwitchIndex from{s};
        if (!arrives(graph, before, target, target.base, from)) continue;
        if (!arrives(graph, after, target, target.base, from)) continue;
        for (std::size_t sent = 0; sent < versions.tables.size(); ++sent) {
          ASSERT_TRUE(arrives_late(graph, versions, target, target.base, from, sent))
              << "from " << s << " to LID " << target.base.raw() << " without link " << l;
        }
      }
    }
  }
}

// Each LID takes as many stages as it has switches one behind the other, whatever the others take.
TEST(OutwardStages, LidsDoNotWaitForEachOther) {
  const auto fabric = assign_lids(**generate("tree:k=3,n=3"), 0).value();
  const auto graph = SwitchGraph::make(*fabric).value();
  const auto router = UpDownRouter::make(*fabric).value();
  const ForwardingTables& after = router.tables();
  const UpdateOrder order{graph, router.ranks(), router.mends()};
  for (const Target& target : graph.targets()) {
    ForwardingTables before = after;
    SwitchIndex farthest{0};
    if (farthest == target.at) farthest = SwitchIndex{1};
    before.set(farthest, target.base, no_path);
    EXPECT_EQ(outward_stages(order, before, after, std::vector{target.base}).stages.size(), 1U);
  }
  ForwardingTables before = after;
  for (const Target& target : graph.targets()) {
    // One switch of each LID, at different distances.
    const SwitchIndex sw{target.at.raw() == 0 ? 1U : 0U};
    before.set(sw, target.base, no_path);
  }
  std::vector<Lid> all;
  for (const Target& target : graph.targets()) all.push_back(target.base);
  EXPECT_EQ(outward_stages(order, before, after, all).stages.size(), 1U);
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
    const auto router = UpDownRouter::make(*fabric).value();
    const ForwardingTables& ordered = router.tables();
    const UpdateOrder order{graph, router.ranks(), router.mends()};
    const ForwardingTables other = UpDownRouter::make(*fabric, options)->tables();
    std::vector<Lid> lids;
    for (const Target& target : graph.targets()) {
      for (unsigned i = 0; i < target.lid_count(); ++i)
        lids.push_back(Lid{static_cast<std::uint16_t>(target.base.raw() + i)});
    }
    for (const auto& [before, after] : {std::pair{&shortest, &ordered}, std::pair{&ordered, &other}}) {
      ForwardingTables now = *before;
      for (const auto& stage : outward_stages(order, *before, *after, lids).stages) {
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
