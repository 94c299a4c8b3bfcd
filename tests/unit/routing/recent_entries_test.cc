#include "routing/recent_entries.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <set>
#include <string>

#include "fabric/generators.h"
#include "routing/safe_update.h"
#include "routing/updn.h"
#include "unit/routing/passing.h"

namespace heddle::routing {
namespace {

using namespace std::chrono_literals;
using changes::Passing;
using changes::without_cables;
using changes::without_some;

constexpr Lid lid{7};
constexpr NodeGuid leaf{1};
constexpr NodeGuid spine{2};

Instant at(FabricClock::duration time) { return Instant{} + time; }

TEST(RecentEntries, AnEntryIsThereFromTheSetOfItUntilItsSuccessorIsConfirmed) {
  RecentEntries recent;
  EXPECT_EQ(recent.since(lid, leaf), Instant::min());
  recent.replaced(lid, leaf, PortNum{3}, at(10us), at(15us));
  recent.replaced(lid, leaf, PortNum{4}, at(20us), at(25us));
  ASSERT_EQ(recent.of(lid).size(), 2U);
  EXPECT_EQ(recent.of(lid)[0].since, Instant::min());
  EXPECT_EQ(recent.of(lid)[0].until, at(15us));
  EXPECT_EQ(recent.of(lid)[1].since, at(10us));
  EXPECT_EQ(recent.of(lid)[1].until, at(25us));
  EXPECT_EQ(recent.since(lid, leaf), at(20us));
  EXPECT_EQ(recent.since(lid, spine), Instant::min());
}

TEST(RecentEntries, WhatEndedLongAgoIsForgotten) {
  RecentEntries recent;
  recent.replaced(lid, leaf, PortNum{3}, at(10us), at(15us));
  recent.replaced(lid, spine, PortNum{4}, at(20us), at(25us));
  recent.forget_until(at(15us));
  ASSERT_EQ(recent.of(lid).size(), 1U);
  EXPECT_EQ(recent.of(lid)[0].sw, spine);
  recent.forget_until(at(25us));
  EXPECT_TRUE(recent.all().empty());
}

// A switch that answered twice, and not the same, was written anew 100,000 times in a packet's life; each
// time all entries of before were held against each other.
TEST(RecentEntries, OfASwitchThatIsWrittenWithoutEndFewAreKept) {
  RecentEntries recent;
  Instant now{};
  for (std::size_t i = 0; i < 20 * RecentEntries::most_apart; ++i, now += 2us)
    recent.replaced(lid, leaf, PortNum{static_cast<std::uint8_t>(3 + i % 2)}, now, now + 1us);
  EXPECT_LE(recent.of(lid).size(), RecentEntries::most_apart);
  for (const unsigned port : {3U, 4U}) {
    const auto is_first = [&](const auto& each) { return each.port.raw() == port && each.since <= at(2us); };
    EXPECT_TRUE(std::ranges::any_of(recent.of(lid), is_first)) << "what was there first is not forgotten";
  }
  EXPECT_EQ(recent.since(lid, leaf), now - 2us);
}

TEST(RecentEntries, OfAWholeFabricNoneIsKnown) {
  RecentEntries recent;
  constexpr std::size_t lids = 10'000;
  for (std::size_t i = 0; i <= RecentEntries::most; ++i)
    recent.replaced(Lid{static_cast<std::uint16_t>(1 + i % lids)}, leaf, PortNum{3}, at(1us), at(2us));
  EXPECT_TRUE(recent.all().empty());
  recent.replaced(lid, leaf, PortNum{3}, at(8us), at(9us));
  EXPECT_TRUE(recent.all().empty()) << "packets of those are under way still";
  recent.forget_until(at(9us));
  recent.replaced(lid, leaf, PortNum{3}, at(10us), at(11us));
  EXPECT_EQ(recent.of(lid).size(), 1U);
}

std::size_t count_lids_that_begin(const UpdatePlan& plan) {
  std::set<Lid> begun;
  std::size_t count = 0;
  for (const auto& stage : plan.stages) {
    for (const EntryWrite& write : stage) {
      if (begun.insert(write.lid).second && write.change != Change::Follows) ++count;
    }
  }
  return count;
}

// Worlds 1050160, 2000463, 3000288, 3000407 and 865104347 of the swarm: a cable comes that makes the mends
// others, and before packets of the tables of before are gone, other links are to be used.
TEST(RecentEntries, AChangeClosesNoCircleWithPacketsOfTheOneBefore) {
  std::size_t circles_else = 0;
  std::size_t at_once = 0;
  for (std::uint64_t seed = 19; seed <= 24; ++seed) {
    const std::string kind = seed % 3 == 0
                                 ? "torus:4x4,hosts=1,links=1"
                                 : fmt::format("random:switches=10,hosts=20,links=20,seed={}", seed);
    const auto fabric = assign_lids(**generate(kind)).value();
    Random random(seed);
    for (int step = 0; step < 6; ++step) {
      const auto part = without_cables(*fabric, without_some(*fabric, 1 + random.below(4), random));
      auto earlier = UpDownRouter::make(*part);
      if (!earlier) continue;
      UpDownOptions options;
      for (std::uint32_t s = 0; s < earlier->graph().size(); ++s)
        options.ranks.emplace_back(earlier->graph().guid(SwitchIndex{s}),
                                   earlier->ranks().rank(SwitchIndex{s}));
      auto router = UpDownRouter::make(*fabric, options).value();
      router.update(without_some(*fabric, random.below(4), random));
      const UpdateOrder order{router.graph(), router.ranks(), router.mends()};
      ForwardingTables tables = earlier->tables();
      Passing passing(router.graph());
      const auto first =
          plan_safe_update(order, tables, router.tables(), differing_blocks(tables, router.tables()));
      passing.carry_out(first.plan.stages, tables);
      if (passing.has_circle()) continue;  // no order of LIDs is free of them
      router.update(without_some(*fabric, random.below(4), random));
      const auto differing = differing_blocks(tables, router.tables());
      for (const bool looks : {false, true}) {
        Passing then = passing;
        ForwardingTables stand = tables;
        const auto second =
            plan_safe_update(order, stand, router.tables(), differing, {looks ? &then.recent : nullptr, {}});
        then.carry_out(second.plan.stages, stand);
        EXPECT_EQ(stand, router.tables());
        Passing alone(router.graph());
        ForwardingTables again = tables;
        alone.carry_out(second.plan.stages, again);
        if (alone.has_circle()) continue;  // packets that are sent back: the writer has these wait
        EXPECT_FALSE(looks && then.has_circle()) << kind << ", step " << step;
        if (!looks && then.has_circle()) ++circles_else;
        if (looks && !second.following.empty()) at_once += count_lids_that_begin(second.plan);
      }
    }
  }
  EXPECT_GT(circles_else, 0U) << "it would not have been so anyhow";
  // Those that are in nobody's way wait for no packets.
  EXPECT_GT(at_once, 0U);
}

}  // namespace
}  // namespace heddle::routing
