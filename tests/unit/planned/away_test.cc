#include "planned/away.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <set>

#include "base/random.h"
#include "planned/route_maker.h"
#include "planned/tables_in_force.h"
#include "planned/transition.h"
#include "routing/updn.h"
#include "unit/planned/subnets.h"

namespace heddle::planned {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

/// An OpenSM's view of a fabric, and what is made of it, routing after routing.
class Away : public testing::Test {
 protected:
  void begin(const std::string& spec, std::uint8_t lmc = 1) {
    lmc_ = lmc;
    fabric_ = fabric_of(spec, lmc);
    all_ = records_of(*fabric_);
    const Subnet subnet = make_subnet(all_, {});
    const auto router = routing::UpDownRouter::make(*subnet.fabric).value();
    plan_.epoch = 1;
    for (std::uint32_t s = 0; s < router.graph().size(); ++s) {
      const routing::SwitchIndex at{s};
      plan_.ranks.emplace_back(router.graph().guid(at), router.ranks().rank(at));
    }
  }
  [[nodiscard]] NodeGuid guid(const std::string& name) const {
    const auto nodes = fabric_->nodes();
    return std::ranges::find(nodes, name, &Node::description)->guid;
  }
  static bool is_at(const LinkRef& link, NodeGuid node) { return link.a.node == node || link.b.node == node; }
  /// The cables between one of these switches and any other one.
  [[nodiscard]] std::vector<LinkRef> cables_of(const std::vector<std::string>& names) const {
    std::set<NodeGuid> guids;
    for (const std::string& name : names) guids.insert(guid(name));
    std::vector<LinkRef> result = trunks_of(all_);
    std::erase_if(result, [&](const LinkRef& link) {
      return guids.contains(link.a.node) == guids.contains(link.b.node);
    });
    return result;
  }
  [[nodiscard]] LinkRef host_cable(const std::string& name) const {
    return std::ranges::find_if(all_.cables, [&](const Cable& each) { return is_at(each.link, guid(name)); })
        ->link;
  }
  /// Without these nodes, and without hosts that have no cable then.
  [[nodiscard]] SubnetRecords without(const std::vector<std::string>& names) const {
    SubnetRecords seen = all_;
    const auto drop = [&](NodeGuid node) {
      std::erase_if(seen.nodes, [&](const Node& each) { return each.guid == node; });
      std::erase_if(seen.lids, [&](const PortLids& each) { return each.port.node == node; });
      std::erase_if(seen.cables, [&](const Cable& each) { return is_at(each.link, node); });
    };
    for (const std::string& name : names) drop(guid(name));
    for (const Node& node : all_.nodes) {
      const auto has_it = [&](const Cable& each) { return is_at(each.link, node.guid); };
      if (node.type != NodeType::Switch && std::ranges::none_of(seen.cables, has_it)) drop(node.guid);
    }
    return seen;
  }
  [[nodiscard]] std::vector<std::string> names_of(const std::set<NodeGuid>& guids) const {
    std::vector<std::string> names;
    for (const NodeGuid each : guids) names.push_back(fabric_->node(fabric_->find_node(each)).description);
    return names;
  }
  /// Of those that are drained together none is seen that only others of them could be asked through.
  void hide_with_neighbours(const std::vector<std::string>& drained, std::set<NodeGuid>& hidden) const {
    std::set<NodeGuid> all;
    for (const std::string& name : drained) all.insert(guid(name));
    for (std::size_t before = 0; before != hidden.size();) {
      before = hidden.size();
      for (const LinkRef& link : trunks_of(all_)) {
        if (!all.contains(link.a.node) || !all.contains(link.b.node)) continue;
        if (hidden.contains(link.a.node) || hidden.contains(link.b.node))
          hidden.insert({link.a.node, link.b.node});
      }
    }
  }
  Routes route(SubnetRecords records) {
    std::vector<LinkRef> absent = cables_.missing(records);
    away_.recall(records, absent, &plan_);
    absent.insert(absent.end(), plan_.off.begin(), plan_.off.end());
    subnet_ = make_subnet(std::move(records), absent);
    EXPECT_THAT(subnet_.remarks, IsEmpty());
    return maker_.make(subnet_, &plan_, lmc_).value();
  }
  /// Entries of switches that are in sight of both.
  void expect_same_entries(const Routes& x, const Routes& y) {
    for (const NodeGuid sw : switches_in_sight(subnet_)) {
      const auto row = [&](const Routes& routes) {
        const auto& guids = routes.tables.switches();
        const auto at = std::ranges::find(guids, sw) - guids.begin();
        const auto all = routes.tables.row(routing::SwitchIndex{static_cast<std::uint32_t>(at)});
        return std::vector<std::uint8_t>(all.begin(), all.end());
      };
      EXPECT_EQ(row(x), row(y)) << to_string(sw);
    }
  }
  /// By somebody who has never seen more than these.
  [[nodiscard]] routing::ForwardingTables fresh(const SubnetRecords& records) const {
    RouteMaker maker;
    return maker.make(make_subnet(records, {}), &plan_, lmc_).value().tables;
  }

  std::shared_ptr<const Fabric> fabric_;
  unsigned lmc_ = 0;
  SubnetRecords all_;
  plan::Plan plan_;
  CableMemory cables_;
  AwayMemory away_;
  RouteMaker maker_;
  Subnet subnet_;
};

constexpr const char* small_tree = "xgft:2;2,3;1,3";  // two hosts at each of three leaves, three spines

TEST_F(Away, ASwitchThatIsDrainedLeavesNoTraceWhenOpenSmForgetsIt) {
  for (const std::uint8_t lmc : {0, 1}) {
    begin(small_tree, lmc);
    route(all_);
    plan_.off = cables_of({"spine-1"});
    const Routes drained = route(all_);
    const SubnetRecords seen = without({"spine-1"});
    for (int again = 0; again < 2; ++again) {
      const Routes forgotten = route(seen);
      EXPECT_THAT(subnet_.away, ElementsAre(guid("spine-1")));
      expect_same_entries(forgotten, drained);
      EXPECT_EQ(forgotten.permitted.count(), drained.permitted.count());
      EXPECT_EQ(forgotten.unconnected, 0U);
      EXPECT_FALSE(forgotten.relaxed);
    }
    EXPECT_NE(fresh(seen).switch_count(), subnet_.fabric->switch_count());
    plan_.off.clear();
    const Routes back = route(all_);
    EXPECT_THAT(subnet_.away, IsEmpty());
    EXPECT_EQ(back.tables, fresh(all_));
    away_ = {};
    cables_ = {};
  }
}

TEST_F(Away, NobodyWaitsForTheTablesOfWhoIsAway) {
  begin(small_tree);
  route(all_);
  plan_.off = cables_of({"spine-1"});
  const Routes drained = route(all_);
  TablesInForce in_force;
  for (std::uint32_t s = 0; s < drained.tables.switch_count(); ++s) {
    const auto row = drained.tables.row(routing::SwitchIndex{s});
    in_force.confirm(drained.tables.switches()[s], row, row);
  }
  const Routes forgotten = route(without({"spine-1"}));
  in_force.keep(switches_in_sight(subnet_));
  EXPECT_FALSE(in_force.knows(guid("spine-1")));
  const Pass pass = maker_.next_pass(subnet_, forgotten, in_force, Packets::Gone);
  EXPECT_FALSE(pass.writes);
  EXPECT_EQ(pass.behind, 0U);
}

TEST_F(Away, WhatIsNotOffByThePlanIsGone) {
  begin(small_tree);
  route(all_);
  const SubnetRecords seen = without({"spine-1"});
  EXPECT_EQ(route(seen).tables, fresh(seen));
  EXPECT_THAT(subnet_.away, IsEmpty());
  // Nor does it come back to mind when somebody says so afterwards.
  plan_.off = cables_of({"spine-1"});
  EXPECT_EQ(route(seen).tables, fresh(seen));
  EXPECT_THAT(subnet_.away, IsEmpty());
}

TEST_F(Away, WhatIsOffInPartIsGone) {
  begin(small_tree);
  plan_.off = cables_of({"spine-1"});
  plan_.off.pop_back();
  route(all_);
  const SubnetRecords seen = without({"spine-1"});
  EXPECT_EQ(route(seen).tables, fresh(seen));
  EXPECT_THAT(subnet_.away, IsEmpty());
}

TEST_F(Away, WhatNoPlaneUsesIsAsGoodAsOff) {
  begin(small_tree);
  plan_.planes.resize(2);
  plan_.planes[0].avoid = cables_of({"spine-1"});
  plan_.planes[1].avoid = cables_of({"spine-1"});
  plan_.off = {plan_.planes[1].avoid.back()};
  plan_.planes[1].avoid.pop_back();
  const Routes drained = route(all_);
  expect_same_entries(route(without({"spine-1"})), drained);
  EXPECT_THAT(subnet_.away, ElementsAre(guid("spine-1")));
  // One of them is to use it.
  plan_.planes[0].avoid.clear();
  route(without({"spine-1"}));
  EXPECT_THAT(subnet_.away, IsEmpty());
}

TEST_F(Away, ALeafTakesItsHostsWithIt) {
  begin(small_tree);
  route(all_);
  plan_.off = cables_of({"leaf-1"});
  plan_.forced = plan_.off;
  const Routes drained = route(all_);
  EXPECT_NE(drained.unconnected, 0U);
  const SubnetRecords seen = without({"leaf-1"});
  ASSERT_EQ(seen.nodes.size(), all_.nodes.size() - 3);
  const Routes forgotten = route(seen);
  expect_same_entries(forgotten, drained);
  EXPECT_EQ(forgotten.unconnected, 0U) << "those who are away miss nobody";
  // A host that turns up elsewhere is where it is, and the other one where it was.
  SubnetRecords moved = seen;
  const NodeGuid host = guid("host-2 mlx5_0");
  const NodeGuid spine = guid("spine-0");
  moved.nodes.push_back(fabric_->node(fabric_->find_node(host)));
  const auto has_it = [&](const PortLids& each) { return each.port.node == host; };
  moved.lids.push_back(*std::ranges::find_if(all_.lids, has_it));
  moved.cables.push_back({{{host, PortNum{1}}, {spine, PortNum{4}}}, true, false});
  std::erase_if(moved.nodes, [&](const Node& node) { return node.guid == spine; });
  Node larger = fabric_->node(fabric_->find_node(spine));
  larger.port_count = 4;
  moved.nodes.push_back(larger);
  route(moved);
  EXPECT_EQ(subnet_.fabric->nodes().size(), all_.nodes.size());
  EXPECT_EQ(subnet_.fabric->peer({subnet_.fabric->find_node(host), PortNum{1}})->node,
            subnet_.fabric->find_node(spine));
}

TEST_F(Away, AHostWhoseLinkIsOffLeavesNoTraceEither) {
  begin(small_tree);
  route(all_);
  plan_.off = {host_cable("host-3 mlx5_0")};
  const Routes drained = route(all_);
  const Routes forgotten = route(without({"host-3 mlx5_0"}));
  expect_same_entries(forgotten, drained);
  EXPECT_THAT(subnet_.away, IsEmpty());
  const auto lid = fabric_->port(fabric_->find_port({guid("host-3 mlx5_0"), PortNum{1}})).lid;
  for (std::uint32_t s = 0; s < forgotten.tables.switch_count(); ++s)
    EXPECT_EQ(forgotten.tables.port(routing::SwitchIndex{s}, lid), no_path);
  plan_.off.clear();
  const SubnetRecords seen = without({"host-3 mlx5_0"});
  EXPECT_EQ(route(seen).tables, fresh(seen)) << "it is no longer off, and not there";
}

TEST_F(Away, LidsThatSomebodyElseHasAreNotGivenBack) {
  begin(small_tree);
  route(all_);
  plan_.off = cables_of({"leaf-1"});
  plan_.forced = plan_.off;
  route(all_);
  SubnetRecords seen = without({"leaf-1"});
  const auto lid_of = [&](const std::string& name) {
    const auto is_its = [&](const PortLids& each) { return each.port.node == guid(name); };
    return std::ranges::find_if(all_.lids, is_its)->base;
  };
  for (PortLids& each : seen.lids) {
    if (each.port.node == guid("host-0 mlx5_0")) each.base = lid_of("host-2 mlx5_0");
    if (each.port.node == guid("spine-2")) each.base = lid_of("leaf-1");
  }
  route(seen);
  EXPECT_EQ(subnet_.fabric->find_node(guid("host-2 mlx5_0")), no_node);
  EXPECT_NE(subnet_.fabric->find_node(guid("host-3 mlx5_0")), no_node);
  ASSERT_THAT(subnet_.away, ElementsAre(guid("leaf-1")));
  const Port& own = subnet_.fabric->port(subnet_.fabric->find_port({guid("leaf-1"), PortNum{0}}));
  EXPECT_EQ(own.lid, no_lid);
}

// With another GUID, at the same cables.
TEST_F(Away, WhoWasReplacedIsForgotten) {
  begin(small_tree);
  plan_.off = cables_of({"spine-1"});
  route(all_);
  route(without({"spine-1"}));
  const NodeGuid stranger{0x77};
  SubnetRecords seen = all_;
  const NodeGuid old = guid("spine-1");
  for (Node& node : seen.nodes) node.guid = node.guid == old ? stranger : node.guid;
  for (PortLids& lids : seen.lids) lids.port.node = lids.port.node == old ? stranger : lids.port.node;
  for (Cable& cable : seen.cables) {
    for (PortRef* end : {&cable.link.a, &cable.link.b}) end->node = end->node == old ? stranger : end->node;
  }
  route(seen);
  EXPECT_THAT(subnet_.away, IsEmpty());
  EXPECT_EQ(subnet_.fabric->switch_count(), fabric_->switch_count());
}

TEST_F(Away, SeveralAreKeptWithTheCablesBetweenThem) {
  begin("torus:4x4,hosts=1,links=2");
  route(all_);
  plan_.off = cables_of({"sw-1-1", "sw-1-2"});
  plan_.forced = plan_.off;
  const Routes drained = route(all_);
  expect_same_entries(route(without({"sw-1-1", "sw-1-2"})), drained);
  EXPECT_EQ(subnet_.away.size(), 2U);
}

TEST_F(Away, WhoDiesBesideOneThatIsDrainedIsGone) {
  begin("torus:4x4,hosts=1,links=2");
  route(all_);
  plan_.off = cables_of({"sw-1-1"});
  plan_.forced = plan_.off;
  route(all_);
  route(without({"sw-1-1", "sw-1-2"}));
  EXPECT_THAT(subnet_.away, ElementsAre(guid("sw-1-1")));
  EXPECT_EQ(subnet_.fabric->find_node(guid("sw-1-2")), no_node);
}

// Held against an OpenSM that goes on seeing all of them.
TEST_F(Away, WhoeverIsDrainedAndForgottenLeavesNoTrace) {
  const std::vector<const char*> specs{small_tree, "tree:k=4,n=3", "torus:4x4,hosts=2,links=2",
                                       "random:switches=12,hosts=20,links=26,ports=12,seed=7"};
  std::size_t kept = 0;
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    SCOPED_TRACE(seed);
    Random random{seed};
    begin(specs[random.below(specs.size())], static_cast<std::uint8_t>(random.below(3)));
    std::vector<std::string> drained;
    for (const Node& node : fabric_->nodes())
      if (node.type == NodeType::Switch && random.below(4) == 0) drained.push_back(node.description);
    away_ = {};
    cables_ = {};
    maker_ = {};
    route(all_);
    plan_.off = plan_.forced = cables_of(drained);
    plan_.planes.resize(random.below(2) * 2);
    if (!plan_.planes.empty()) plan_.planes.front().avoid = {trunks_of(all_)[seed % trunks_of(all_).size()]};
    const Routes seen = route(all_);
    std::set<NodeGuid> hidden;
    for (int more = 0; more < 3; ++more) {
      for (const std::string& name : drained)
        if (random.below(2) == 0) hidden.insert(guid(name));
      hide_with_neighbours(drained, hidden);
      expect_same_entries(route(without(names_of(hidden))), seen);
      kept += subnet_.away.size();
    }
    plan_.planes.clear();
  }
  EXPECT_GT(kept, 200U);
}

}  // namespace
}  // namespace heddle::planned
