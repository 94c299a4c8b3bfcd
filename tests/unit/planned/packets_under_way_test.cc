// Packets that are under way while tables change: none of them loses its way, or waits in a circle with
// others.

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "planned/route_maker.h"
#include "planned/transition.h"
#include "routing/dependencies.h"
#include "routing/hop_map.h"
#include "unit/planned/routed.h"
#include "unit/planned/subnets.h"

namespace heddle::planned {
namespace {

using routing::ForwardingTables;
using routing::SwitchIndex;
using routing::Target;

TEST(Transition, TakesNoWayAwayWhilePacketsMayBeOnIt) {
  const SubnetRecords whole = records_of(*fabric_of("torus:4x4,hosts=1,links=1"));
  const Subnet subnet = make_subnet(whole, {});
  RouteMaker maker;
  const ForwardingTables before = maker.make(subnet, nullptr, 0).value().tables;
  std::size_t waited = 0;
  for (const LinkRef& link : trunks_of(whole)) {
    plan::Plan plan;
    plan.off = {link};
    const ForwardingTables wanted = maker.make(subnet, &plan, 0).value().tables;
    const auto& graph = maker.router().graph();
    const auto& ranks = maker.router().ranks();
    const auto& mends = maker.router().mends();
    ForwardingTables now = before;
    std::size_t passes = 0;
    Pass pass;
    do {
      pass = next_pass({graph, ranks, mends, &subnet.usable}, now, wanted, Packets::UnderWay);
      now = pass.tables;
    } while (pass.writes && ++passes < 100);
    if (pass.behind == 0) continue;
    ++waited;
    EXPECT_TRUE(next_pass({graph, ranks, mends, &subnet.usable}, now, wanted, Packets::Gone).writes);
    // What has broken meanwhile does not wait.
    SubnetRecords cut = whole;
    remove(cut, link);
    const Subnet without = make_subnet(cut, plan.off);
    EXPECT_TRUE(next_pass({graph, ranks, mends, &without.usable}, now, wanted, Packets::UnderWay).writes);
  }
  EXPECT_GT(waited, 0U);
}

/// Whether packets may wait for each other in a circle that were sent by any of these tables, one after the
/// other, and go on by the same or later ones. Those of `caught` do not count.
bool may_wait_in_a_circle(const routing::SwitchGraph& graph, const std::vector<ForwardingTables>& tables,
                          std::span<const Lid> caught = {}) {
  const routing::HopMap map{graph};
  routing::Dependencies all(graph);
  for (const Target& target : graph.targets()) {
    for (unsigned i = 0; i < target.lid_count(); ++i) {
      const Lid lid{static_cast<std::uint16_t>(target.base.raw() + i)};
      if (std::ranges::find(caught, lid) != caught.end()) continue;
      for (std::size_t sent = 0; sent < tables.size(); ++sent) {
        for (std::uint32_t s = 0; s < graph.size(); ++s) {
          const std::uint32_t by = map.hop(s, tables[sent].port(SwitchIndex{s}, lid).raw());
          if (SwitchIndex{s} == target.at || by == routing::HopMap::none) continue;
          const SwitchIndex over{map.peer(by)};
          for (std::size_t met = sent; over != target.at && met < tables.size(); ++met) {
            const std::uint32_t next = map.hop(over.raw(), tables[met].port(over, lid).raw());
            if (next != routing::HopMap::none) all.add(by, next, lid);
          }
        }
      }
    }
  }
  return !all.find_cycle().empty();
}

/// As when a cable comes, and the mends are others.
TEST(Transition, LidsThatMustNotChangeTogetherWaitForPacketsOfOneAnother) {
  const SubnetRecords whole = records_of(*fabric_of("torus:4x4,hosts=1,links=1"));
  std::size_t circles_at_once = 0;
  for (const LinkRef& link : trunks_of(whole)) {
    SubnetRecords part = whole;
    remove(part, link);
    const Subnet without = make_subnet(part, {});
    RouteMaker earlier;
    const ForwardingTables before = earlier.make(without, nullptr, 0).value().tables;
    plan::Plan plan;
    for (std::uint32_t s = 0; s < earlier.router().graph().size(); ++s)
      plan.ranks.emplace_back(earlier.router().graph().guid(SwitchIndex{s}),
                              earlier.router().ranks().rank(SwitchIndex{s}));
    const Subnet subnet = make_subnet(whole, {});
    RouteMaker maker;
    const ForwardingTables wanted = maker.make(subnet, &plan, 0).value().tables;
    const auto& graph = maker.router().graph();
    circles_at_once += may_wait_in_a_circle(graph, {before, wanted}) ? 1 : 0;
    std::vector<ForwardingTables> under_way{before};
    TablesInForce in_force;
    confirm(graph, before, in_force);
    auto packets = Packets::UnderWay;
    for (std::size_t passes = 0; passes < 200; ++passes) {
      const Pass pass = next_pass({graph, maker.router().ranks(), maker.router().mends(), &subnet.usable},
                                  under_way.back(), wanted, packets, &in_force.recent());
      if (!pass.writes && pass.behind == 0) break;
      ASSERT_TRUE(pass.writes || packets == Packets::UnderWay) << "it stands still";
      if (pass.writes) {
        under_way.push_back(pass.tables);
        confirm(graph, pass.tables, in_force);
      } else {
        under_way = {under_way.back()};
        in_force.forget_packets();
      }
      packets = pass.writes ? Packets::UnderWay : Packets::Gone;
      EXPECT_FALSE(may_wait_in_a_circle(graph, under_way));
    }
    EXPECT_EQ(under_way.back(), wanted);
  }
  EXPECT_GT(circles_at_once, 0U) << "nobody would have had to wait";
}

/// LIDs that any of these tables leads over the cable.
std::vector<Lid> led_over(const LinkRef& cable, const std::vector<ForwardingTables>& tables) {
  std::vector<Lid> lids;
  for (const ForwardingTables& each : tables) {
    for (const PortRef& end : {cable.a, cable.b}) {
      const auto row = each.row(each.find(end.node));
      for (std::size_t lid = 0; lid < row.size(); ++lid)
        if (row[lid] == end.port.raw()) lids.emplace_back(static_cast<std::uint16_t>(lid));
    }
  }
  return lids;
}

/// A switch is back, and before packets are gone that were led around it, a cable is cut.
void cut_when_back(NodeGuid node, const LinkRef& cable) {
  SCOPED_TRACE(to_string(node) + " was away, " + to_string(cable.a) + " is cut");
  const SubnetRecords whole = records_of(*fabric_of("torus:4x4,hosts=1,links=1"));
  SubnetRecords without = whole;
  remove(without, node);
  SubnetRecords trained = whole;
  for (Cable& each : trained.cables) each.active = each.link.a.node != node && each.link.b.node != node;
  SubnetRecords cut = whole;
  remove(cut, cable);
  Routed opensm;
  opensm.route(whole, {});
  opensm.route(without, {});
  std::vector<ForwardingTables> stood;
  opensm.begin(trained, {}, stood);
  opensm.begin(whole, {}, stood);
  opensm.begin(cut, std::vector{cable}, stood);
  EXPECT_FALSE(may_wait_in_a_circle(opensm.graph(), stood, led_over(cable, stood)));
}

// Random run 240041 of the real programs: what was sent back from the cut closed a circle with what stood,
// and then nobody waited for any packets.
TEST(Transition, WhatACutSendsBackIsNoReasonToForgetOtherPackets) {
  const NodeGuid node{0x0248450100000100};
  const PortRef end{NodeGuid{0x0248450100000800}, PortNum{2}};
  const auto links = trunks_of(records_of(*fabric_of("torus:4x4,hosts=1,links=1")));
  const auto cable = std::ranges::find(links, end, &LinkRef::a);
  ASSERT_NE(cable, links.end());
  cut_when_back(node, *cable);
}

// With any other switch there is nothing to wait for.
TEST(Transition, ARepairClosesNoCircleWithPacketsThatAreUnderWay) {
  const auto links = trunks_of(records_of(*fabric_of("torus:4x4,hosts=1,links=1")));
  for (const NodeGuid node : {NodeGuid{0x0248450100000000}, NodeGuid{0x0248450100000100}})
    for (const LinkRef& cable : links) cut_when_back(node, cable);
}

void add_dependencies(const routing::SwitchGraph& graph, const ForwardingTables& tables,
                      routing::Dependencies& into) {
  const routing::HopMap map{graph};
  for (const Target& target : graph.targets()) {
    for (unsigned i = 0; i < target.lid_count(); ++i) {
      const Lid lid{static_cast<std::uint16_t>(target.base.raw() + i)};
      for (std::uint32_t s = 0; s < graph.size(); ++s) {
        const std::uint32_t by = map.hop(s, tables.port(SwitchIndex{s}, lid).raw());
        if (SwitchIndex{s} == target.at || by == routing::HopMap::none) continue;
        const SwitchIndex over{map.peer(by)};
        const std::uint32_t next = map.hop(over.raw(), tables.port(over, lid).raw());
        if (over != target.at && next != routing::HopMap::none) into.add(by, next, lid);
      }
    }
  }
}

// What comes or goes while OpenSM runs makes the mends anew: for packets that turn as they do.
TEST(Transition, ARouterThatIsMadeAnewAllowsTheTurnsOfTheTablesInForce) {
  const SubnetRecords whole = records_of(*fabric_of("random:switches=10,hosts=20,links=20,seed=3053"));
  const Subnet subnet = make_subnet(whole, {});
  std::size_t circles_else = 0;
  for (const LinkRef& link : trunks_of(whole)) {
    SubnetRecords part = whole;
    remove(part, link);
    const Subnet without = make_subnet(part, {});
    for (const bool knows : {false, true}) {
      RouteMaker maker;
      const ForwardingTables before = maker.make(subnet, nullptr, 0).value().tables;
      TablesInForce in_force;
      for (std::uint32_t s = 0; s < maker.router().graph().size(); ++s) {
        in_force.confirm(maker.router().graph().guid(SwitchIndex{s}), before.row(SwitchIndex{s}),
                         before.row(SwitchIndex{s}));
      }
      const ForwardingTables after =
          maker.make(without, nullptr, 0, knows ? &in_force : nullptr).value().tables;
      const auto& graph = maker.router().graph();
      routing::Dependencies all(graph);
      add_dependencies(graph, in_force.of(graph, after.top()), all);
      add_dependencies(graph, after, all);
      const bool circle = !all.find_cycle().empty();
      EXPECT_FALSE(knows && circle);
      if (!knows && circle) ++circles_else;
    }
  }
  EXPECT_GT(circles_else, 0U) << "nobody would have had to know";
}

}  // namespace
}  // namespace heddle::planned
