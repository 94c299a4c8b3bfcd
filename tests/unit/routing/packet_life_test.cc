#include "routing/packet_life.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <algorithm>
#include <chrono>
#include <optional>
#include <set>

#include "base/random.h"
#include "routing/hop_map.h"
#include "routing/updn.h"
#include "unit/routing/test_fabrics.h"

namespace heddle::routing {
namespace {

using namespace std::chrono_literals;

constexpr Instant began{100s};

TEST(PacketLife, ValuesArePowersOfTwoAndAbove19ThereIsNoLimit) {
  EXPECT_EQ(lifetime(0), 4096ns);
  EXPECT_EQ(lifetime(18), 1073741824ns);
  EXPECT_LE(lifetime(18), default_packet_life);
  EXPECT_FALSE(lifetime(20));
}

TEST(PacketLife, IsWhatTheSwitchesBetweenAllowAndNoMoreThanTheMost) {
  const std::uint8_t values[] = {10, 8, 10};
  EXPECT_EQ(packet_life(values, 5, 1s), 4 * 4096ns * 1024);
  EXPECT_EQ(packet_life(values, 5, 1ms), 1ms);
  EXPECT_EQ(packet_life(values, 1, 1s), 4096ns * 1024);
}

TEST(PacketLife, OneSwitchWithoutALimitLeavesOnlyTheMost) {
  for (const std::uint8_t none : {0, 20}) {
    const std::uint8_t values[] = {10, none};
    EXPECT_EQ(packet_life(values, 5, 1s), 1s);
  }
  EXPECT_EQ(packet_life({}, 5, 1s), 1s);
}

// 1050413, 1070156, 30104 and others of the swarm: two switches sent packets back at once, and mended turns
// made a circle of it.
TEST(PacketsUnderWay, NobodySendsBackWhatMayStillCome) {
  PacketsUnderWay under_way;
  under_way.set_life(1s);
  under_way.begin(began);
  const NodeGuid a{1};
  const NodeGuid b{2};
  under_way.replaced(Lid{7}, a, b, began + 10s);
  EXPECT_EQ(under_way.may_return(Lid{7}, b, a), began + 11s);
  EXPECT_EQ(under_way.may_return(Lid{7}, a, b), Instant{});
  EXPECT_EQ(under_way.may_return(Lid{8}, b, a), Instant{});
  under_way.replaced(Lid{8}, a, b, began + 20s);
  EXPECT_EQ(under_way.may_return(Lid{7}, b, a), Instant{}) << "it is gone";
}

TEST(PacketsUnderWay, OnlyWhatLosesItsWayWaitsAndOnlyForItsOwnLid) {
  PacketsUnderWay under_way;
  under_way.set_life(1s);
  under_way.begin(began);
  const EntryWrite gains[] = {{SwitchIndex{0}, Lid{7}, PortNum{1}, Change::Gains}};
  const EntryWrite loses[] = {{SwitchIndex{0}, Lid{7}, PortNum{1}, Change::Loses}};
  const EntryWrite other[] = {{SwitchIndex{0}, Lid{8}, PortNum{1}, Change::Loses}};
  under_way.wrote(Lid{7}, began + 10s);
  EXPECT_EQ(under_way.earliest(gains), Instant{});
  EXPECT_EQ(under_way.earliest(loses), began + 11s);
  EXPECT_EQ(under_way.earliest(other), began + 1s);
  EXPECT_EQ(under_way.gone(), began + 11s);
}

/// Tables for two sets of links of one random fabric, both connected.
struct Pair {
  std::shared_ptr<const Fabric> fabric;
  std::unique_ptr<UpDownRouter> router;
  ForwardingTables before;
  LinkSet old_links;
  LinkSet new_links;
};

enum class Fate : std::uint8_t { GoOff, Break };

/// With Break, the second set is part of the first.
Pair random_pair(Fate fate) {
  const auto seed = *rc::gen::arbitrary<std::uint32_t>();
  const unsigned switches = *rc::gen::inRange(3U, 12U);
  Pair pair;
  pair.fabric = shapes::tangle(switches, *rc::gen::inRange(1U, 2 * switches), 2 * switches, seed).build();
  pair.router = std::make_unique<UpDownRouter>(UpDownRouter::make(*pair.fabric).value());
  Random random(seed);
  const auto thinned = [&](LinkSet links, double share) {
    for (std::uint32_t i = 0; i < pair.fabric->links().size(); ++i) {
      const Link& link = pair.fabric->links()[i];
      if (pair.fabric->node(link.b.node).type == NodeType::Switch && random.chance(share))
        links.erase(LinkIndex{i});
    }
    pair.router->update(links);
    RC_PRE(pair.router->unconnected().empty());
    return links;
  };
  pair.old_links = thinned(LinkSet::all(*pair.fabric), 0.2);
  pair.before = pair.router->tables();
  pair.new_links = thinned(fate == Fate::Break ? pair.old_links : LinkSet::all(*pair.fabric), 0.2);
  return pair;
}

/// One LID's entries, changed one by one in a random order within each stage of its own.
struct History {
  std::vector<ForwardingTables> versions;
  std::vector<std::size_t> stage_of;  ///< of the write that made versions[i + 1]
  std::vector<bool> waits;            ///< by stage: nobody who looked before the stage before it is under way
};

History history_of(const UpdatePlan& plan, const ForwardingTables& before, Lid lid, Random& random) {
  History history{{before}, {}, {}};
  for (std::size_t s = 0; s < plan.stages.size(); ++s) {
    std::vector<EntryWrite> own;
    for (const EntryWrite& write : plan.stages[s]) {
      if (write.lid == lid) own.push_back(write);
    }
    for (std::size_t i = own.size(); i > 1; --i) std::swap(own[i - 1], own[random.below(i)]);
    history.waits.push_back(std::any_of(
        own.begin(), own.end(), [](const EntryWrite& write) { return write.change == Change::Loses; }));
    for (const EntryWrite& write : own) {
      history.versions.push_back(history.versions.back());
      history.versions.back().set(write.sw, lid, write.port);
      history.stage_of.push_back(s);
    }
  }
  return history;
}

enum class Waits : std::uint8_t { Kept, Ignored };

/// Whether every packet goes up, then down, and arrives, whichever of the versions it meets in their order.
/// Mends turn as they may, and have no entry while they pause.
bool packets_arrive(const UpDownRouter& router, const History& history, const Target& target, Waits waits) {
  const SwitchGraph& graph = router.graph();
  const HopMap map(graph);
  // The last version that somebody who looked at version v can still meet.
  const auto last_of = [&](std::size_t v) {
    std::size_t last = v;
    bool wrote = false;  // in an earlier stage than the one of the next write
    std::size_t stage = last < history.stage_of.size() ? history.stage_of[last] : 0;
    while (last < history.stage_of.size()) {
      const std::size_t next = history.stage_of[last];
      if (next != stage) wrote = true;
      stage = next;
      if (waits == Waits::Kept && wrote && history.waits[next]) break;
      ++last;
    }
    return last;
  };
  struct At {
    std::uint32_t sw;
    std::size_t seen, last;
    std::uint32_t from;  ///< where it came from; itself at the beginning
    auto operator<=>(const At&) const = default;
  };
  std::set<At> met;
  std::vector<At> queue;
  for (std::uint32_t s = 0; s < graph.size(); ++s) {
    if (graph.hosts_at(SwitchIndex{s}) == 0) continue;
    for (std::size_t v = 0; v < history.versions.size(); ++v) queue.push_back({s, v, last_of(v), s});
  }
  while (!queue.empty()) {
    const At at = queue.back();
    queue.pop_back();
    if (at.sw == target.at.raw() || !met.insert(at).second) continue;
    for (std::size_t v = at.seen; v <= at.last; ++v) {
      const SwitchIndex sw{at.sw};
      const std::uint32_t hop = map.hop(at.sw, history.versions[v].port(sw, target.base).raw());
      if (hop == HopMap::none) {
        if (router.mends().find(sw, target.at) == Mends::none) return false;
        continue;
      }
      const SwitchIndex next{map.peer(hop)};
      const bool turns = router.ranks().above(SwitchIndex{at.from}, sw) && router.ranks().above(next, sw);
      if (turns && !router.mends().turns(SwitchIndex{at.from}, sw, next)) return false;
      queue.push_back({next.raw(), v, at.last, at.sw});
    }
  }
  return true;
}

TEST(PacketsUnderWayProperty, MeetTablesThatGoUpThenDownIfTheWaitsAreKept) {
  std::size_t needed = 0;
  EXPECT_TRUE(rc::check([&needed] {
    const Pair pair = random_pair(Fate::GoOff);
    const SwitchGraph& graph = pair.router->graph();
    const UpdatePlan plan =
        plan_update(graph, pair.router->ranks(), pair.before, pair.router->tables(), &pair.router->mends())
            .value();
    Random random(*rc::gen::arbitrary<std::uint32_t>());
    for (const Target& target : graph.targets()) {
      if (target.kind != TargetKind::Host) continue;
      const History history = history_of(plan, pair.before, target.base, random);
      RC_ASSERT(packets_arrive(*pair.router, history, target, Waits::Kept));
      if (!packets_arrive(*pair.router, history, target, Waits::Ignored)) ++needed;
    }
  }));
  EXPECT_GT(needed, 0U);
}

/// Follows one LID from every host switch; nullopt: a circle.
std::optional<std::set<std::uint32_t>> arrivals(const SwitchGraph& graph, const ForwardingTables& tables,
                                                const Target& target, const LinkSet& up) {
  const HopMap map(graph);
  std::set<std::uint32_t> arrived;
  for (std::uint32_t start = 0; start < graph.size(); ++start) {
    if (graph.hosts_at(SwitchIndex{start}) == 0) continue;
    std::uint32_t s = start;
    std::size_t steps = 0;
    while (s != target.at.raw()) {
      const PortNum port = tables.port(SwitchIndex{s}, target.base);
      const auto hops = graph.hops(SwitchIndex{s});
      const auto hop =
          std::find_if(hops.begin(), hops.end(), [&](const Hop& each) { return each.out == port; });
      if (hop == hops.end() || !up.contains(hop->link)) break;
      s = hop->peer.raw();
      if (++steps > graph.size()) return std::nullopt;
    }
    if (s == target.at.raw()) arrived.insert(start);
  }
  return arrived;
}

TEST(UpdatePlanProperty, WhatALossBrokeComesFirstAndWhatWorksNeverStops) {
  std::size_t broken = 0;
  EXPECT_TRUE(rc::check([&broken] {
    const Pair pair = random_pair(Fate::Break);
    const SwitchGraph& graph = pair.router->graph();
    const ForwardingTables& after = pair.router->tables();
    const auto differing = differing_blocks(pair.before, after);
    const UpdatePlan plan = plan_update(graph, pair.router->ranks(), pair.before, after, differing,
                                        &pair.router->mends(), &pair.new_links)
                                .value();
    Random random(*rc::gen::arbitrary<std::uint32_t>());
    for (const Target& target : graph.targets()) {
      if (target.kind != TargetKind::Host) continue;
      History history = history_of(plan, pair.before, target.base, random);
      auto worked = arrivals(graph, pair.before, target, pair.new_links);
      // These may have to pause.
      for (const Mends::Mend& mend : pair.router->mends().to(target.at)) worked->erase(mend.at.raw());
      for (const ForwardingTables& version : history.versions) {
        const auto arrive = arrivals(graph, version, target, pair.new_links);
        RC_ASSERT(arrive.has_value());
        RC_ASSERT(std::includes(arrive->begin(), arrive->end(), worked->begin(), worked->end()));
      }
      for (const auto& stage : plan.stages) {
        for (const EntryWrite& write : stage) {
          if (write.lid != target.base) continue;
          const auto hops = graph.hops(write.sw);
          const auto hop = std::find_if(hops.begin(), hops.end(), [&](const Hop& each) {
            return each.out == pair.before.port(write.sw, write.lid);
          });
          if (hop == hops.end() || pair.new_links.contains(hop->link)) continue;
          ++broken;
          RC_ASSERT(write.change != Change::Loses);
        }
      }
    }
  }));
  EXPECT_GT(broken, 0U);
}

}  // namespace
}  // namespace heddle::routing
