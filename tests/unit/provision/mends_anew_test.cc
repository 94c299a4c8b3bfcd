// What happens to tables when a cable comes that was not there when the mends were made, or a daemon is
// started and finds one missing: the mends are made anew, and both sets of tables stand in the fabric while
// one replaces the other.
#include <gtest/gtest.h>

#include <algorithm>

#include "authority/own/up_down_keeper.h"
#include "fabric/generators.h"
#include "routing/dependencies.h"
#include "routing/hop_map.h"
#include "routing/safe_update.h"
#include "support/trunks.h"

namespace heddle::provision {
namespace {

using routing::Change;
using routing::EntryWrite;
using routing::ForwardingTables;
using routing::HopMap;
using routing::SwitchIndex;

std::shared_ptr<const Fabric> before_cable(const Fabric& fabric, LinkIndex missing) {
  FabricBuilder builder;
  for (const Node& node : fabric.nodes()) {
    const NodeIndex index = *builder.add_node(node);
    for (unsigned p = 0; p <= node.port_count; ++p)
      EXPECT_TRUE(builder.set_port(index, fabric.port(PortIndex{node.first_port.raw() + p})));
  }
  for (std::uint32_t i = 0; i < fabric.links().size(); ++i) {
    const Link& link = fabric.link(LinkIndex{i});
    if (LinkIndex{i} == missing) continue;
    EXPECT_TRUE(builder.add_link(link.a, link.b, link.width, link.speed));
  }
  return builder.build();
}

/// The dependencies of packets that were sent by any of some tables, one after the other, and go on by the
/// same or a later one.
class History {
 public:
  explicit History(const routing::SwitchGraph& graph) : graph_{graph}, map_{graph} {}

  void begin(const ForwardingTables& tables) { tables_ = {tables}; }
  void then(const ForwardingTables& tables) { tables_.push_back(tables); }
  [[nodiscard]] const ForwardingTables& last() const { return tables_.back(); }

  [[nodiscard]] bool has_circle() const { return has_circle(tables_.size()); }
  /// Where packets go on by the same tables.
  [[nodiscard]] bool has_circle_apart() const { return has_circle(1); }

 private:
  [[nodiscard]] bool has_circle(std::size_t span) const {
    routing::Dependencies all(graph_);
    for (const routing::Target& target : graph_.targets()) {
      for (unsigned i = 0; i < target.lid_count(); ++i)
        follow(target, Lid{static_cast<std::uint16_t>(target.base.raw() + i)}, span, all);
    }
    return !all.find_cycle().empty();
  }
  void follow(const routing::Target& target, Lid lid, std::size_t span, routing::Dependencies& all) const {
    for (std::size_t first = 0; first < tables_.size(); ++first) {
      for (std::uint32_t s = 0; s < graph_.size(); ++s) {
        const std::uint32_t by = hop(first, s, lid);
        if (s == target.at.raw() || by == HopMap::none || map_.peer(by) == target.at.raw()) continue;
        for (std::size_t later = first; later < std::min(tables_.size(), first + span); ++later) {
          const std::uint32_t next = hop(later, map_.peer(by), lid);
          if (next != HopMap::none) all.add(by, next, lid);
        }
      }
    }
  }
  [[nodiscard]] std::uint32_t hop(std::size_t at, std::uint32_t s, Lid lid) const {
    return map_.hop(s, tables_[at].port(SwitchIndex{s}, lid).raw());
  }

  const routing::SwitchGraph& graph_;
  HopMap map_;
  std::vector<ForwardingTables> tables_;
};

class MendsAnew : public testing::TestWithParam<const char*> {};

TEST_P(MendsAnew, TablesOfBeforeMakeNoCircleWithThoseThatReplaceThem) {
  const auto fabric = assign_lids(**generate(GetParam())).value();
  std::size_t rounds = 0;
  for (const LinkIndex link : test::trunk_links(*fabric)) {
    UpDownKeeper keeper(1);
    const auto before = keeper.route(*before_cable(*fabric, link));
    ASSERT_TRUE(before);
    const auto after = keeper.route(*fabric);
    ASSERT_TRUE(after);
    ASSERT_EQ(keeper.beginnings(), 2U);
    const routing::UpDownRouter& order = *after->order;
    const auto update =
        routing::plan_safe_update({order.graph(), order.ranks(), order.mends(), &after->up}, before->tables,
                                  after->tables, routing::differing_blocks(before->tables, after->tables));
    EXPECT_TRUE(update.circular.empty()) << "cable " << link.raw();
    rounds += update.following.empty() ? 0 : 1;
    History history(order.graph());
    history.begin(before->tables);
    for (const auto& stage : update.plan.stages) {
      ForwardingTables tables = history.last();
      routing::apply(stage, tables);
      const bool follows = std::any_of(stage.begin(), stage.end(), [](const EntryWrite& write) {
        return write.change == Change::Follows;
      });
      if (follows) history.begin(ForwardingTables(history.last()));
      history.then(tables);
      EXPECT_FALSE(history.has_circle()) << "cable " << link.raw();
    }
    EXPECT_EQ(history.last(), after->tables);
  }
  RecordProperty("with_rounds", static_cast<int>(rounds));
}

/// As a daemon finds it that was just started, and knows the order of the one before.
struct Found {
  Found(const UpDownKeeper& earlier, std::shared_ptr<const Fabric> seen) : fabric{std::move(seen)} {
    keeper.remember(earlier.ranks());
  }
  [[nodiscard]] routing::SafeUpdate update_from(const ForwardingTables& before) {
    routes = keeper.route(*fabric).value();
    const routing::UpDownRouter& order = *routes.order;
    return routing::plan_safe_update({order.graph(), order.ranks(), order.mends(), &routes.up}, before,
                                     routes.tables, routing::differing_blocks(before, routes.tables));
  }

  std::shared_ptr<const Fabric> fabric;
  UpDownKeeper keeper;
  Routes routes;
};

// 3053, 1070137, 1070154, 3000179 and 3000312 of the swarm.
TEST(KeptTurns, AfterARestartTheTablesThatStandMakeNoCircleWithThoseThatReplaceThem) {
  std::size_t circular = 0;
  for (const char* const kind :
       {"torus:4x4,hosts=1,links=1", "random:switches=10,hosts=20,links=20,seed=3053",
        "random:switches=10,hosts=20,links=20,seed=26", "grown:seed=154,hosts=40"}) {
    const auto fabric = assign_lids(**generate(kind)).value();
    for (const LinkIndex link : test::trunk_links(*fabric)) {
      UpDownKeeper earlier;
      const ForwardingTables before = earlier.route(*fabric).value().tables;
      Found found{earlier, before_cable(*fabric, link)};
      circular += found.update_from(before).circular.size();
      const routing::UpDownRouter& order = *found.routes.order;
      (void)found.keeper.allow(routing::standing_turns(order.graph(), order.ranks(), before));
      const auto update = found.update_from(before);
      EXPECT_TRUE(update.circular.empty() && update.following.empty()) << kind << ", cable " << link.raw();
      History history(found.routes.order->graph());
      history.begin(before);
      history.then(found.routes.tables);
      EXPECT_FALSE(history.has_circle_apart()) << kind << ", cable " << link.raw();
    }
  }
  EXPECT_GT(circular, 0U) << "it would have been so anyhow";
}

TEST(KeptTurns, WhatIsAllowedAlreadyMakesNoOrderAnew) {
  const auto fabric = assign_lids(**generate("random:switches=10,hosts=20,links=20,seed=3053")).value();
  UpDownKeeper keeper;
  const Routes routes = keeper.route(*fabric).value();
  const auto turns = routing::standing_turns(routes.order->graph(), routes.order->ranks(), routes.tables);
  EXPECT_FALSE(turns.empty());
  EXPECT_FALSE(keeper.allow(turns));
  EXPECT_FALSE(keeper.allow({}));
  EXPECT_EQ(keeper.route(*fabric).value().order, routes.order);
}

// Whoever goes by the topology has mends of his own to make anew.
TEST(KeptTurns, AnOrderThatAllowsOthersIsAnotherTopology) {
  const auto fabric = assign_lids(**generate("random:switches=10,hosts=20,links=20,seed=3053")).value();
  UpDownKeeper keeper;
  ASSERT_TRUE(keeper.route(*fabric));
  const routing::SwitchGraph& graph = keeper.route(*fabric).value().order->graph();
  const routing::Ranks& ranks = keeper.route(*fabric).value().order->ranks();
  const routing::Mends& mends = keeper.route(*fabric).value().order->mends();
  std::vector<routing::KeptTurn> foreign;
  for (std::uint32_t s = 0; s < graph.size(); ++s) {
    for (const routing::Hop& down : graph.hops(SwitchIndex{s})) {
      for (const routing::Hop& up : graph.hops(down.peer)) {
        if (ranks.above(SwitchIndex{s}, down.peer) && ranks.above(up.peer, down.peer) &&
            up.peer != SwitchIndex{s} && !mends.turns(SwitchIndex{s}, down.peer, up.peer))
          foreign.push_back({graph.guid(SwitchIndex{s}), graph.guid(down.peer), graph.guid(up.peer)});
      }
    }
  }
  ASSERT_FALSE(foreign.empty());
  const auto before = keeper.full();
  EXPECT_TRUE(keeper.allow(foreign));
  EXPECT_NE(keeper.full(), before);
  EXPECT_EQ(keeper.turns(), foreign);
  EXPECT_FALSE(keeper.allow(foreign));
  // All of them cannot be: what is allowed has no circle.
  const Routes routes = keeper.route(*fabric).value();
  History history(routes.order->graph());
  history.begin(routes.tables);
  EXPECT_FALSE(history.has_circle());
}

INSTANTIATE_TEST_SUITE_P(Fabrics, MendsAnew,
                         testing::Values("torus:4x4,hosts=1,links=1", "xgft:3;3,3,2;1,2,2",
                                         "random:switches=10,hosts=20,links=20,seed=26"));

}  // namespace
}  // namespace heddle::provision
