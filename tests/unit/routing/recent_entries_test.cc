#include "routing/recent_entries.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>
#include <utility>

#include "base/random.h"
#include "fabric/generators.h"
#include "routing/dependencies.h"
#include "routing/hop_map.h"
#include "routing/safe_update.h"
#include "routing/updn.h"

namespace heddle::routing {
namespace {

using namespace std::chrono_literals;

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

TEST(RecentEntries, OfAWholeFabricNoneIsKnown) {
  RecentEntries recent;
  for (std::size_t i = 0; i <= RecentEntries::most; ++i)
    recent.replaced(lid, leaf, PortNum{3}, at(1us), at(2us));
  EXPECT_TRUE(recent.all().empty());
  recent.replaced(lid, leaf, PortNum{3}, at(8us), at(9us));
  EXPECT_TRUE(recent.all().empty()) << "packets of those are under way still";
  recent.forget_until(at(9us));
  recent.replaced(lid, leaf, PortNum{3}, at(10us), at(11us));
  EXPECT_EQ(recent.of(lid).size(), 1U);
}

std::shared_ptr<const Fabric> without_cables(const Fabric& fabric, const LinkSet& there) {
  FabricBuilder builder;
  for (const Node& node : fabric.nodes()) {
    const NodeIndex index = *builder.add_node(node);
    for (unsigned p = 0; p <= node.port_count; ++p)
      EXPECT_TRUE(builder.set_port(index, fabric.port(PortIndex{node.first_port.raw() + p})));
  }
  for (std::uint32_t i = 0; i < fabric.links().size(); ++i) {
    const Link& link = fabric.link(LinkIndex{i});
    if (!there.contains(LinkIndex{i})) continue;
    EXPECT_TRUE(builder.add_link(link.a, link.b, link.width, link.speed));
  }
  return builder.build();
}

/// Tables one after the other, as long as packets of the first are under way: each goes on by the same tables
/// as the switch before, or by later ones.
class Passing {
 public:
  explicit Passing(const SwitchGraph& graph) : graph_{graph}, map_{graph} {}

  /// LIDs that wait do so until the packets of all that need not are gone.
  void carry_out(std::vector<std::vector<EntryWrite>> stages, ForwardingTables& tables) {
    if (passed_.empty()) passed_.push_back(tables);
    for (bool gone = false; !stages.empty(); gone = true) {
      if (gone) passed_ = {tables};
      if (gone) recent.forget_until(now_);
      std::set<Lid> later;
      std::vector<std::vector<EntryWrite>> left;
      for (auto& stage : stages) {
        const bool first = gone && &stage == &stages.front();
        for (const EntryWrite& write : stage) {
          const bool waits = write.change == Change::Follows || write.change == Change::Loses;
          if (waits && !first) later.insert(write.lid);
        }
        const auto rest = std::stable_partition(
            stage.begin(), stage.end(), [&](const EntryWrite& write) { return !later.contains(write.lid); });
        if (rest != stage.end()) left.emplace_back(rest, stage.end());
        stage.erase(rest, stage.end());
        if (!stage.empty()) write(stage, tables);
      }
      stages = std::move(left);
    }
  }
  [[nodiscard]] bool has_circle() const {
    Dependencies all(graph_);
    for (const Target& target : graph_.targets()) {
      for (unsigned i = 0; i < target.lid_count(); ++i)
        add(target, Lid{static_cast<std::uint16_t>(target.base.raw() + i)}, all);
    }
    return !all.find_cycle().empty();
  }

  RecentEntries recent;

 private:
  void write(const std::vector<EntryWrite>& stage, ForwardingTables& tables) {
    for (const EntryWrite& write : stage)
      recent.replaced(write.lid, graph_.guid(write.sw), tables.port(write.sw, write.lid), now_ + 1us,
                      now_ + 2us);
    now_ += 2us;
    apply(stage, tables);
    passed_.push_back(tables);
  }
  void add(const Target& target, Lid lid, Dependencies& all) const {
    const auto hop = [&](std::size_t which, std::uint32_t s) {
      return map_.hop(s, passed_[which].port(SwitchIndex{s}, lid).raw());
    };
    for (std::size_t first = 0; first < passed_.size(); ++first) {
      for (std::uint32_t s = 0; s < graph_.size(); ++s) {
        const std::uint32_t by = s == target.at.raw() ? HopMap::none : hop(first, s);
        if (by == HopMap::none || map_.peer(by) == target.at.raw()) continue;
        for (std::size_t later = first; later < passed_.size(); ++later) {
          if (const std::uint32_t next = hop(later, map_.peer(by)); next != HopMap::none)
            all.add(by, next, lid);
        }
      }
    }
  }

  const SwitchGraph& graph_;
  HopMap map_;
  std::vector<ForwardingTables> passed_;
  Instant now_{};
};

/// All links but some cables between switches.
LinkSet without_some(const Fabric& fabric, std::size_t off, Random& random) {
  LinkSet active = LinkSet::all(fabric);
  for (std::size_t tries = 0; off > 0 && tries < 100; ++tries) {
    const LinkIndex link{static_cast<std::uint32_t>(random.below(fabric.links().size()))};
    const auto is_switch = [&](LinkEnd end) { return fabric.node(end.node).type == NodeType::Switch; };
    if (!is_switch(fabric.link(link).a) || !is_switch(fabric.link(link).b)) continue;
    active.erase(link);
    --off;
  }
  return active;
}

// Worlds 1050160, 2000463, 3000288, 3000407 and 865104347 of the swarm: a cable comes that makes the mends
// others, and before packets of the tables of before are gone, other links are to be used.
TEST(RecentEntries, AChangeClosesNoCircleWithPacketsOfTheOneBefore) {
  std::size_t circles_else = 0;
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
      }
    }
  }
  EXPECT_GT(circles_else, 0U) << "it would not have been so anyhow";
}

}  // namespace
}  // namespace heddle::routing
