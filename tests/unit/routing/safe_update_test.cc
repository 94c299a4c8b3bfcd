// Orders of writing that suit the packets of all LIDs together.
#include "routing/safe_update.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "fabric/generators.h"
#include "fabric/source.h"
#include "routing/dead_entries.h"
#include "support/places.h"
#include "unit/routing/passing.h"

namespace heddle::routing {
namespace {

using changes::arrives_by;
using changes::CablesThatCame;
using changes::Passing;

CablesThatCame cables_that_came(std::uint64_t seed, std::string_view source, std::uint8_t lmc) {
  return changes::cables_that_came(assign_lids(**generate(source), lmc).value(), seed);
}

CablesThatCame cables_that_came(std::uint64_t seed) {
  return cables_that_came(seed, fmt::format("random:switches=10,hosts=20,links=20,seed={}", seed), 0);
}

void expect_paths_as_in(const ForwardingTables& wanted, const SwitchGraph& graph,
                        const ForwardingTables& tables) {
  for (const Target& target : graph.targets()) {
    for (unsigned i = 0; i < target.lid_count(); ++i) {
      const Lid lid{static_cast<std::uint16_t>(target.base.raw() + i)};
      for (std::uint32_t s = 0; s < graph.size(); ++s) {
        const SwitchIndex from{s};
        EXPECT_TRUE(!arrives_by(graph, wanted, from, target, lid) ||
                    arrives_by(graph, tables, from, target, lid));
      }
    }
  }
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

// superpod-krskp, 1,300 links that came back one by one: switches that were to send packets back waited for
// nothing in the plan, which kept LIDs of aggregation nodes on ways that no order knows; more had to stay
// with each link, until what stood had a circle.
TEST(SafeUpdate, WhatWaitsBeforeItSendsBackHoldsNobodyUp) {
  const auto file = test::shared_data() / "fabrics/superpod-krskp-hdr-2022.ibnetdiscover";
  if (!std::filesystem::exists(file)) GTEST_SKIP() << file << " is not here";
  const auto fabric = assign_lids(*load_fabric(file.string())->fabric, 0).value();
  auto router = UpDownRouter::make(*fabric).value();
  ASSERT_TRUE(router.mends().has_turns());
  const UpdateOrder order{router.graph(), router.ranks(), router.mends()};
  Random random(1);
  LinkSet on = LinkSet::all(*fabric);
  for (std::uint32_t i = 0; i < fabric->links().size(); ++i) {
    const Link& link = fabric->link(LinkIndex{i});
    const bool between_switches = fabric->node(link.a.node).type == NodeType::Switch &&
                                  fabric->node(link.b.node).type == NodeType::Switch;
    if (between_switches && random.below(3) == 0) on.erase(LinkIndex{i});
  }
  router.route(0, on);
  ForwardingTables tables = router.tables();
  Passing passing(router.graph());
  passing.returns_wait = true;
  std::size_t without_waiting = 0;
  constexpr std::uint32_t parts = 8;
  for (std::uint32_t part = 0; part < parts; ++part) {
    for (std::uint32_t i = part; i < fabric->links().size(); i += parts) on.insert(LinkIndex{i});
    router.route(0, on);
    const auto differing = differing_blocks(tables, router.tables());
    const auto plan = [&](bool returns_wait) {
      return plan_safe_update(order, tables, router.tables(), differing,
                              {&passing.recent, {}, MayStay::Yes, returns_wait});
    };
    without_waiting += plan(false).staying.size();
    const auto update = plan(true);
    EXPECT_TRUE(update.staying.empty() && update.circular.empty() && update.third_ways.empty()) << part;
    passing.carry_out(update.plan.stages, tables);
    EXPECT_FALSE(passing.has_circle()) << part;
  }
  EXPECT_GT(without_waiting, 0U);
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
    expect_paths_as_in(router.tables(), graph, tables);
  }
}

// World 4000020110 of the swarm: a switch was restarted, and entries that led to it over a link that was down
// waited for packets, with all of their LIDs. They turned packets in a circle once that link was up, before
// anybody had been asked.
TEST(SafeUpdate, WhatLeadsOverALinkThatIsDownIsKnown) {
  std::size_t later = 0;
  for (std::uint64_t seed = 300; seed < 330; ++seed) {
    SCOPED_TRACE(seed);
    const std::string source = seed % 2 == 0
                                   ? std::string{"torus:4x4,hosts=1,links=1"}
                                   : fmt::format("random:switches=10,hosts=20,links=20,seed={}", seed);
    auto came = cables_that_came(seed, source, 0);
    const SwitchGraph& graph = came.router.graph();
    Random random(seed + 2000);
    // A switch comes back with an empty table, and all but one of its links train.
    const SwitchIndex back{static_cast<std::uint32_t>(random.below(graph.size()))};
    LinkSet up = LinkSet::all(*came.fabric);
    for (const Hop& hop : graph.hops(back).subspan(1)) up.erase(hop.link);
    came.router.update(up);
    const UpdateOrder order{graph, came.router.ranks(), came.router.mends(), &up, &up};
    ForwardingTables tables = came.earlier.tables();
    const auto row = tables.row(back);
    std::fill(row.begin(), row.end(), no_path.raw());
    const auto differing = differing_blocks(tables, came.router.tables());
    const auto update =
        plan_safe_update(order, tables, came.router.tables(), differing, {.may_stay = MayStay::Yes});
    const auto& stages = update.plan.stages;
    const auto dead = dead_entries(order, tables, came.router.tables(), differing, stages,
                                   [](const EntryWrite&) { return false; });
    (void)apply(dead, tables);
    if (!stages.empty()) (void)apply(stages[0], tables);
    later += dead.size();
    for (std::uint32_t s = 0; s < graph.size(); ++s) {
      for (const Hop& hop : graph.hops(SwitchIndex{s})) {
        for (const Target& target : graph.targets())
          EXPECT_TRUE(up.contains(hop.link) || tables.port(SwitchIndex{s}, target.base) != hop.out);
      }
    }
  }
  EXPECT_GT(later, 0U);
}

// World 629875770 of the swarm: the order was made anew when a switch had just died. Its LIDs stood in tables
// still, no plan knew of them, and they closed a circle with what was written first.
TEST(SafeUpdate, WhatLeadsToNobodyGoesFirst) {
  const auto [fabric, earlier, router] = cables_that_came(75);
  const SwitchGraph& graph = router.graph();
  const LinkSet up = LinkSet::all(*fabric);
  const UpdateOrder order{graph, router.ranks(), router.mends(), &up, &up};
  ForwardingTables tables = earlier.tables();
  const Lid nobodys{static_cast<std::uint16_t>(graph.top_lid().raw() + 1)};
  ASSERT_LT(nobodys.raw(), tables.stride());
  for (std::uint32_t s = 0; s < graph.size(); ++s)
    tables.set(SwitchIndex{s}, nobodys, graph.hops(SwitchIndex{s}).front().out);
  const auto differing = differing_blocks(tables, router.tables());
  const auto update = plan_safe_update(order, tables, router.tables(), differing);
  ASSERT_FALSE(update.plan.stages.empty());
  const auto dead = dead_entries(order, tables, router.tables(), differing, update.plan.stages,
                                 [](const EntryWrite&) { return false; });
  (void)apply(dead, tables);
  for (std::uint32_t s = 0; s < graph.size(); ++s) EXPECT_EQ(tables.port(SwitchIndex{s}, nobodys), no_path);
}

// World 15363448 of the swarm: switches come back with empty tables. What leads to them leads nowhere, and
// what it held was in the way of every entry that they could have had.
TEST(SafeUpdate, WhatLeadsNowhereIsInNobodysWay) {
  for (const auto& [seed, source] : {std::pair{75U, "random:switches=10,hosts=20,links=20,seed=75"},
                                     {268U, "random:switches=10,hosts=20,links=20,seed=268"},
                                     {324U, "torus:4x4,hosts=1,links=1"}}) {
    SCOPED_TRACE(source);
    const auto [fabric, earlier, router] = cables_that_came(seed, source, 1);
    const SwitchGraph& graph = router.graph();
    const UpdateOrder order{graph, router.ranks(), router.mends()};
    ForwardingTables tables = earlier.tables();
    Random random(seed + 1000);
    for (unsigned i = 0; i < 2; ++i) {
      const auto row = tables.row(SwitchIndex{static_cast<std::uint32_t>(random.below(graph.size()))});
      std::fill(row.begin(), row.end(), no_path.raw());
    }
    const auto update =
        plan_safe_update(order, tables, router.tables(), differing_blocks(tables, router.tables()),
                         {.may_stay = MayStay::Yes});
    EXPECT_TRUE(update.circular.empty());
    Passing passing(graph);
    passing.carry_out(update.plan.stages, tables);
    EXPECT_FALSE(passing.has_circle());
    expect_paths_as_in(router.tables(), graph, tables);
  }
}

// World 6000000038 of the swarm: some of that leads out of a port behind which a switch is that did not
// answer when the daemon started, and that passes packets.
TEST(SafeUpdate, WhatLeadsToWhoIsNotKnownStays) {
  constexpr PortNum unknown{200};
  const auto [fabric, earlier, router] =
      cables_that_came(75, "random:switches=10,hosts=20,links=20,seed=75", 1);
  const SwitchGraph& graph = router.graph();
  const UpdateOrder order{graph, router.ranks(), router.mends()};
  Random random(1075);
  ForwardingTables emptied = earlier.tables();
  std::set<std::uint32_t> empty;
  for (unsigned i = 0; i < 2; ++i) {
    const auto s = static_cast<std::uint32_t>(random.below(graph.size()));
    const auto row = emptied.row(SwitchIndex{s});
    std::fill(row.begin(), row.end(), no_path.raw());
    empty.insert(s);
  }
  for (std::uint32_t beside = 0; beside < graph.size(); ++beside) {
    if (empty.contains(beside)) continue;
    ForwardingTables before = emptied;
    ForwardingTables wanted = router.tables();
    for (const Target& target : graph.targets()) {
      for (unsigned i = 0; i < target.lid_count() && target.at.raw() != beside; ++i) {
        const Lid lid{static_cast<std::uint16_t>(target.base.raw() + i)};
        before.set(SwitchIndex{beside}, lid, unknown);
        wanted.set(SwitchIndex{beside}, lid, unknown);
      }
    }
    const auto update =
        plan_safe_update(order, before, wanted, differing_blocks(before, wanted), {.may_stay = MayStay::Yes});
    for (const auto& stage : update.plan.stages) {
      for (const EntryWrite& write : stage)
        EXPECT_FALSE(write.sw == SwitchIndex{beside} && write.port == no_path) << "LID " << write.lid.raw();
    }
  }
}

// World 55441728 of the swarm: a switch has died, and one that the order has no path for any more had one
// while a LID went its third way.
TEST(SafeUpdate, NobodyLosesWhatAThirdWayGave) {
  for (const auto& [seed, dying] : {std::pair{75U, 8U}, {75U, 9U}, {194U, 7U}}) {
    SCOPED_TRACE(seed);
    const auto came = cables_that_came(seed);
    UpDownRouter router = changes::made_anew(*came.fabric, came.earlier);
    const SwitchGraph& graph = router.graph();
    const SwitchIndex dead{dying};
    LinkSet up = LinkSet::all(*came.fabric);
    for (const Hop& hop : graph.hops(dead)) up.erase(hop.link);
    router.update(up);
    const UpdateOrder order{graph, router.ranks(), router.mends(), &up, &up};
    ForwardingTables tables = came.earlier.tables();
    const auto row = tables.row(dead);
    std::fill(row.begin(), row.end(), no_path.raw());
    const auto update =
        plan_safe_update(order, tables, router.tables(), differing_blocks(tables, router.tables()),
                         {.may_stay = MayStay::Yes});
    EXPECT_FALSE(update.third_ways.empty());
    std::set<std::pair<Lid, std::uint32_t>> stood;  // what the order has no more is for kept_ways.h
    std::set<std::pair<Lid, std::uint32_t>> led;
    for (std::size_t i = 0; i <= update.plan.stages.size(); ++i) {
      for (const Target& target : graph.targets()) {
        for (std::uint32_t s = 0; s < graph.size(); ++s) {
          if (SwitchIndex{s} == dead || target.at == dead) continue;
          const bool leads = arrives_by(graph, tables, SwitchIndex{s}, target, target.base);
          const std::pair pair{target.base, s};
          if (leads && i == 0) stood.insert(pair);
          if (leads && !stood.contains(pair)) led.insert(pair);
          EXPECT_TRUE(leads || !led.contains(pair)) << "LID " << target.base.raw();
        }
      }
      if (i < update.plan.stages.size()) (void)apply(update.plan.stages[i], tables);
    }
  }
}

}  // namespace
}  // namespace heddle::routing
