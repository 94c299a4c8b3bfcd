// The passes of a change: what still works goes on working after each of them, in whatever order it is
// written.

#include "planned/transition.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "base/random.h"
#include "planned/route_maker.h"
#include "unit/planned/mixture.h"
#include "unit/planned/routed.h"
#include "unit/planned/subnets.h"

namespace heddle::planned {
namespace {

using routing::ForwardingTables;
using routing::SwitchIndex;
using routing::Target;

/// From tables that stand to those that are wanted over `usable`; everything on the way is looked at.
class Way {
 public:
  Way(const RouteMaker& maker, const routing::LinkSet& usable, ForwardingTables now,
      const ForwardingTables& wanted)
      : graph_{maker.router().graph()},
        ranks_{maker.router().ranks()},
        mends_{maker.router().mends()},
        usable_{usable},
        now_{std::move(now)},
        wanted_{wanted} {}

  /// Whether OpenSM may be given all at once, in the order that it likes.
  [[nodiscard]] bool is_safe_at_once() {
    const auto wrongs = Mixture(graph_, usable_, now_, wanted_).find();
    return wrongs.lost + wrongs.circles == 0;
  }

  void expect_safe() {
    while (pass(Packets::UnderWay)) {
    }
    // What leads nowhere has not waited for packets.
    for (const Target& target : graph_.targets()) {
      for (std::uint32_t s = 0; s < graph_.size(); ++s) {
        const auto entry = [&](const ForwardingTables& tables) {
          return tables.port(SwitchIndex{s}, target.base);
        };
        EXPECT_FALSE(entry(now_) == no_path && entry(wanted_) != no_path);
      }
    }
    while (pass(Packets::Gone)) {
    }
    EXPECT_EQ(now_, wanted_);
  }

 private:
  bool pass(Packets packets) {
    const Pass pass = next_pass({graph_, ranks_, mends_, &usable_}, now_, wanted_, packets);
    EXPECT_EQ(pass.remark, "");
    const auto wrongs = Mixture(graph_, usable_, now_, pass.tables).find();
    EXPECT_EQ(wrongs.lost, 0U) << "pass " << passes_;
    EXPECT_EQ(wrongs.circles, 0U) << "pass " << passes_;
    now_ = pass.tables;
    EXPECT_LT(++passes_, 4 * graph_.size()) << "it does not end";
    return pass.writes && passes_ < 4 * graph_.size();
  }

  const routing::SwitchGraph& graph_;
  const routing::Ranks& ranks_;
  const routing::Mends& mends_;
  const routing::LinkSet& usable_;
  ForwardingTables now_;
  const ForwardingTables& wanted_;
  std::size_t passes_ = 0;
};

struct Shape {
  const char* spec;
  std::uint8_t lmc;
};
class AfterALoss : public testing::TestWithParam<Shape> {};

/// A plan that avoids as many cables as hosts can do without: what is cut then brings some of them back.
plan::Plan sparing_plan(const Subnet& subnet, std::vector<LinkRef> trunks, std::uint8_t lmc) {
  Random random(3);
  random.shuffle(trunks);
  plan::Plan plan;
  plan.planes.resize(1);
  std::vector<LinkRef>& avoid = plan.planes[0].avoid;
  RouteMaker maker;
  for (const LinkRef& link : trunks) {
    avoid.push_back(link);
    if (maker.make(subnet, &plan, lmc).value().relaxed) avoid.pop_back();
  }
  return plan;
}

/// Beside OpenSM after a cut, entries of pairs that were not behind the cut changed before those that they
/// lead to: OpenSM was given everything at once, which `wrong_at_once` counts.
TEST_P(AfterALoss, WhatStillWorksGoesOnWorkingAndTheRestWaitsForNoPackets) {
  const auto [spec, lmc] = GetParam();
  const SubnetRecords whole = records_of(*fabric_of(spec, lmc));
  const Subnet all = make_subnet(whole, {});
  const plan::Plan plan = sparing_plan(all, trunks_of(whole), lmc);
  RouteMaker maker;
  const ForwardingTables before = maker.make(all, &plan, lmc).value().tables;
  std::size_t wrong_at_once = 0;
  for (const LinkRef& link : trunks_of(whole)) {
    SubnetRecords cut = whole;
    remove(cut, link);
    const Subnet subnet = make_subnet(cut, std::vector{link});
    const ForwardingTables wanted = maker.make(subnet, &plan, lmc).value().tables;
    Way way(maker, subnet.usable, before, wanted);
    wrong_at_once += way.is_safe_at_once() ? 0 : 1;
    way.expect_safe();
  }
  EXPECT_GT(wrong_at_once, 0U);
}

INSTANTIATE_TEST_SUITE_P(All, AfterALoss,
                         testing::Values(Shape{"xgft:3;3,3,2;1,2,2", 1},
                                         Shape{"torus:4x4,hosts=1,links=1", 1}, Shape{"tree:k=3,n=3", 0},
                                         Shape{"random:switches=12,hosts=20,links=26,ports=12,seed=7", 0}));

/// Whether packets of the LID arrive that come to the switch.
bool arrives(const routing::SwitchGraph& graph, const routing::LinkSet& usable,
             const ForwardingTables& tables, const Target& target, SwitchIndex at) {
  for (std::size_t hops = 0; hops <= graph.size(); ++hops) {
    const PortNum out = tables.port(at, target.base);
    if (at == target.at) return out == target.out;
    const auto hop = std::ranges::find(graph.hops(at), out, &routing::Hop::out);
    if (hop == graph.hops(at).end() || !usable.contains(hop->link)) return false;
    at = hop->peer;
  }
  return false;
}

/// Whether one of the switches that they pass then changes as well.
bool passes_a_change(const routing::SwitchGraph& graph, const ForwardingTables& before,
                     const ForwardingTables& after, const Target& target, SwitchIndex at) {
  for (std::size_t hops = 0; hops <= graph.size() && at != target.at; ++hops) {
    const auto hop = std::ranges::find(graph.hops(at), after.port(at, target.base), &routing::Hop::out);
    if (hop == graph.hops(at).end()) return false;
    at = hop->peer;
    if (before.port(at, target.base) != after.port(at, target.base)) return true;
  }
  return false;
}

// Random run 600502 of the real programs: what led to a switch whose way was repaired was given another one
// in the same pass, over a switch that had no entry yet, and lost the way that it had just been given.
TEST(Transition, ARepairChangesNothingThatAnotherRepairMends) {
  std::size_t changed = 0;
  std::size_t lost =
      0;  // where the others are written first, and then this one before those that it leads over
  for (const char* spec : {"torus:4x4,hosts=1,links=1", "tree:k=3,n=3",
                           "random:switches=12,hosts=20,links=26,ports=12,seed=7"}) {
    const SubnetRecords whole = records_of(*fabric_of(spec));
    const Subnet all = make_subnet(whole, {});
    RouteMaker maker;
    const ForwardingTables before = maker.make(all, nullptr, 0).value().tables;
    for (const LinkRef& link : trunks_of(whole)) {
      SubnetRecords cut = whole;
      remove(cut, link);
      const Subnet subnet = make_subnet(cut, std::vector{link});
      const Routes wanted = maker.make(subnet, nullptr, 0).value();
      const auto& graph = maker.router().graph();
      const ForwardingTables after = next_pass({graph, maker.router().ranks(), maker.router().mends(),
                                                &subnet.usable, &wanted.permitted, &wanted.open},
                                               before, wanted.tables, Packets::UnderWay)
                                         .tables;
      for (const Target& target : graph.targets()) {
        for (std::uint32_t s = 0; s < graph.size(); ++s) {
          const SwitchIndex sw{s};
          const PortNum old = before.port(sw, target.base);
          const bool is_repaired =
              old != after.port(sw, target.base) && !arrives(graph, subnet.usable, before, target, sw);
          if (!is_repaired) continue;
          ++changed;
          ForwardingTables others = after;
          others.set(sw, target.base, old);
          if (arrives(graph, subnet.usable, others, target, sw) &&
              passes_a_change(graph, before, after, target, sw))
            ++lost;
        }
      }
    }
  }
  EXPECT_GT(changed, 0U);
  EXPECT_EQ(lost, 0U);
}

/// Several cables go and come at the same time, also while an earlier change is on its way.
TEST(Transition, IsSafeWhateverChangesMeanwhile) {
  const SubnetRecords whole = records_of(*fabric_of("torus:4x4,hosts=1,links=1"));
  const auto trunks = trunks_of(whole);
  Random random(7);
  RouteMaker maker;
  ForwardingTables now = maker.make(make_subnet(whole, {}), nullptr, 0).value().tables;
  for (int round = 0; round < 60; ++round) {
    SubnetRecords cut = whole;
    std::vector<LinkRef> absent;
    for (const LinkRef& link : trunks) {
      if (random.below(8) != 0) continue;
      absent.push_back(link);
      remove(cut, link);
    }
    const Subnet subnet = make_subnet(cut, absent);
    const auto routes = maker.make(subnet, nullptr, 0).value();
    const auto& graph = maker.router().graph();
    for (std::uint64_t passes = random.below(4); passes > 0; --passes) {
      const Pass pass = next_pass({graph, maker.router().ranks(), maker.router().mends(), &subnet.usable},
                                  now, routes.tables, Packets::Gone);
      const auto wrongs = Mixture(graph, subnet.usable, now, pass.tables).find();
      EXPECT_EQ(wrongs.lost, 0U) << "round " << round;
      EXPECT_EQ(wrongs.circles, 0U) << "round " << round;
      EXPECT_EQ(pass.remark, "");
      now = pass.tables;
    }
  }
}

// Random runs 150002 and 150021: without a switch packets turn in other ways. When it is back the order joins
// all by it, and OpenSM has its cables as trained for a while before they are Active.
TEST(Transition, WhoHasAWayKeepsItUntilASwitchThatIsBackForwards) {
  std::size_t kept = 0;
  for (const char* spec : {"xgft:3;3,3,2;1,2,2", "tree:k=4,n=2", "torus:3x3,hosts=1,links=1"}) {
    const auto fabric = fabric_of(spec);
    const SubnetRecords whole = records_of(*fabric);
    for (const Node& node : fabric->nodes()) {
      if (node.type != NodeType::Switch) continue;
      Routed opensm;
      opensm.route(whole, {});
      SubnetRecords without = whole;
      remove(without, node.guid);
      opensm.route(without, {});
      SubnetRecords trained = whole;
      for (Cable& cable : trained.cables) {
        cable.active = cable.link.a.node != node.guid && cable.link.b.node != node.guid;
      }
      kept += opensm.route(trained, {});
      opensm.route(whole, {});
    }
  }
  EXPECT_EQ(kept, 0U) << "the order counts on no switch that forwards nothing yet";
}

// Random run 230729 of the real programs: ways that worked went away for half a second, for the sake of other
// LIDs, whose ways worked as well.
TEST(Transition, WhoHasAWayKeepsItFromOneCutToTheNext) {
  const auto fabric = fabric_of("torus:4x4,hosts=1,links=1");
  const SubnetRecords whole = records_of(*fabric);
  const auto trunks = trunks_of(whole);
  std::vector<NodeGuid> switches;
  for (const Node& node : fabric->nodes()) {
    if (node.type == NodeType::Switch) switches.push_back(node.guid);
  }
  // Of the first 1,500 only 222 lost any.
  for (const std::uint64_t seed : {0U, 1U, 2U, 3U, 222U}) {
    SCOPED_TRACE(seed);
    Random random{seed};
    Routed opensm;
    opensm.route(whole, {});
    for (int step = 0; step < 6; ++step) {
      const LinkRef cut = trunks[random.below(trunks.size())];
      const LinkRef other = trunks[random.below(trunks.size())];
      const NodeGuid dead = switches[random.below(switches.size())];
      const bool dies = random.below(2) == 0;
      SubnetRecords records = whole;
      if (dies) remove(records, dead);
      remove(records, cut);
      opensm.route(records, {});
      remove(records, other);
      opensm.route(records, {});
      SubnetRecords trained = whole;
      for (Cable& cable : trained.cables) {
        cable.active = cable.link != cut && cable.link != other &&
                       (!dies || (cable.link.a.node != dead && cable.link.b.node != dead));
      }
      opensm.route(trained, {});
      opensm.route(whole, {});
    }
  }
}

// Random run 1200238 of the real programs: after a cut the order joined two switches no more, and those had a
// way that was kept. heddled was started anew, without the cable, had other mends by the same order, and had
// a link of that way turned off.
TEST(Transition, WhoHasAWayKeepsItFromAPlanThatKnowsOthers) {
  std::size_t kept = 0;
  for (const char* spec :
       {"random:switches=10,hosts=20,links=20,seed=1200238", "torus:3x3,hosts=1,links=1"}) {
    const SubnetRecords whole = records_of(*fabric_of(spec));
    const auto trunks = trunks_of(whole);
    for (const LinkRef& cut : trunks) {
      Routed opensm;
      opensm.route(whole, {});
      SubnetRecords without = whole;
      remove(without, cut);
      kept += opensm.route(without, {{cut}});
      for (const LinkRef& off : trunks) {
        if (off == cut) continue;
        plan::Plan plan;
        plan.off = {off};
        plan.planes.resize(1);
        plan.planes[0].avoid = {off};
        SCOPED_TRACE(to_string(cut.a) + ", " + to_string(off.a));
        opensm.route(without, {{cut}}, &plan);
        opensm.route(without, {{cut}});
      }
    }
  }
  EXPECT_GT(kept, 0U);
}

// Random run 1500014: such a way led over a link in one of two planes, and the other one avoided that link.
TEST(Transition, WhoHasAWayKeepsItWhereOnlyTheOtherPlaneAvoidsItsLink) {
  const auto fabric = fabric_of("random:switches=10,hosts=20,links=20,seed=1500014", 1);
  const SubnetRecords whole = records_of(*fabric);
  SubnetRecords without = whole;
  remove(without, NodeGuid{0x0248450100000300});
  const LinkRef cut{{NodeGuid{0x0248450100000400}, PortNum{6}}, {NodeGuid{0x0248450100000600}, PortNum{5}}};
  plan::Plan nothing;
  nothing.planes.resize(2);
  Routed opensm;
  opensm.route(whole, {}, &nothing);
  opensm.route(without, {}, &nothing);
  remove(without, cut);
  EXPECT_GT(opensm.route(without, {{cut}}, &nothing), 0U);
  for (const LinkRef& off : trunks_of(without)) {
    plan::Plan plan = nothing;
    SCOPED_TRACE(to_string(off.a));
    for (std::size_t plane = plan.planes.size(); plane-- > 0;) {  // the one without traffic first
      plan.planes[plane].avoid = {off};
      opensm.route(without, {{cut}}, &plan);
    }
    opensm.route(without, {{cut}}, &nothing);
  }
}

/// By switch, how far it is from one of them.
std::vector<std::uint16_t> distances(const routing::SwitchGraph& graph, SwitchIndex from) {
  std::vector<std::uint16_t> far(graph.size(), 0xffff);
  far[from.raw()] = 0;
  std::vector<SwitchIndex> queue{from};
  for (std::size_t i = 0; i < queue.size(); ++i) {
    const auto next = static_cast<std::uint16_t>(far[queue[i].raw()] + 1);
    for (const routing::Hop& hop : graph.hops(queue[i])) {
      if (far[hop.peer.raw()] != 0xffff) continue;
      far[hop.peer.raw()] = next;
      queue.push_back(hop.peer);
    }
  }
  return far;
}

/// As after a restart with another order: half-written ones lead everywhere all the same.
TEST(Transition, TablesOfAnotherOrderAreReplacedFromTheDestinationsOutward) {
  const Subnet subnet = make_subnet(records_of(*fabric_of("torus:4x4,hosts=1")), {});
  RouteMaker one;
  const ForwardingTables before = one.make(subnet, nullptr, 0).value().tables;
  const auto& graph = one.router().graph();
  plan::Plan plan;
  const auto far = distances(graph, SwitchIndex{static_cast<std::uint32_t>(graph.size() - 1)});
  for (std::uint32_t s = 0; s < graph.size(); ++s)
    plan.ranks.emplace_back(graph.guid(SwitchIndex{s}), far[s]);
  RouteMaker other;
  const ForwardingTables wanted = other.make(subnet, &plan, 0).value().tables;
  ASSERT_NE(before, wanted);
  Way way(other, subnet.usable, before, wanted);
  way.expect_safe();
}

TEST(TablesInForce, AreThoseOfTheSwitchesThatAreStillThere) {
  const Subnet subnet = make_subnet(records_of(*fabric_of("tree:k=2,n=2")), {});
  RouteMaker maker;
  const ForwardingTables tables = maker.make(subnet, nullptr, 0).value().tables;
  const auto& graph = maker.router().graph();
  TablesInForce in_force;
  EXPECT_TRUE(in_force.empty());
  for (std::uint32_t s = 0; s < graph.size(); ++s) {
    in_force.confirm(graph.guid(SwitchIndex{s}), tables.row(SwitchIndex{s}), tables.row(SwitchIndex{s}));
  }
  EXPECT_EQ(in_force.of(graph, tables.top()), tables);
  // A block that was not answered stays as it was.
  const std::vector<std::uint8_t> other(tables.stride(), 1);
  in_force.confirm(graph.guid(SwitchIndex{1}), other, tables.row(SwitchIndex{1}));
  EXPECT_EQ(in_force.of(graph, tables.top()), tables);
  std::vector<NodeGuid> rest(graph.guids().begin() + 1, graph.guids().end());
  in_force.keep(rest);
  const ForwardingTables left = in_force.of(graph, tables.top());
  EXPECT_EQ(left.port(SwitchIndex{0}, Lid{1}), no_path);
  EXPECT_EQ(left.port(SwitchIndex{1}, Lid{1}), tables.port(SwitchIndex{1}, Lid{1}));
}

}  // namespace
}  // namespace heddle::planned
