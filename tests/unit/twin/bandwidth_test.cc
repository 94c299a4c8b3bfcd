/// What hosts get when all send to all others, by tables that are good, and by tables that are not.
#include <gtest/gtest.h>

#include <algorithm>

#include "sim/scenario_hosts.h"
#include "twin/bandwidth.h"
#include "unit/twin/twin_fixture.h"

namespace heddle::twin {
namespace {

BandwidthRun run_by(const Plant& plant, const routing::ForwardingTables& tables,
                    const routing::LinkSet& active) {
  const auto run = run_bandwidth(*plant.fabric, plant.network->graph(), tables, active, 0);
  EXPECT_TRUE(run) << run.error().message;
  return run ? *run : BandwidthRun{};
}

/// All links but those of one switch.
routing::LinkSet without(const Plant& plant, std::string_view name) {
  routing::LinkSet left = plant.all;
  for (std::uint32_t i = 0; i < plant.fabric->links().size(); ++i) {
    const Link& link = plant.fabric->links()[i];
    for (const LinkEnd& end : {link.a, link.b}) {
      if (plant.fabric->node(end.node).description == name) left.erase(LinkIndex{i});
    }
  }
  return left;
}

TEST(Bandwidth, ABalancedTreeGivesEverybodyAllOfItsLink) {
  const Plant plant{"tree:k=4,n=2"};
  const BandwidthRun run = run_by(plant, plant.tables, plant.all);
  EXPECT_EQ(run.hosts, 16U);
  EXPECT_EQ(run.receivers, 15U);
  EXPECT_EQ(run.flows, 240U);
  EXPECT_EQ(run.unroutable, 0U);
  EXPECT_NEAR(run.each, 200e9, 1e6);
  EXPECT_NEAR(run.least, 1, 1e-6);
}

/// Four leaves of four hosts: 12 of 15 receivers are at other leaves. By one spine of four a leaf's 640
/// Gbit/s go over one cable of 200.
TEST(Bandwidth, TablesThatLeaveCablesIdleCostEverybody) {
  const Plant plant{"tree:k=4,n=2"};
  routing::LinkSet one = plant.all;
  for (const char* spine : {"spine-1", "spine-2", "spine-3"}) {
    const routing::LinkSet left = without(plant, spine);
    routing::LinkSet::for_each_difference(plant.all, left, [&](LinkIndex link) { one.erase(link); });
  }
  const BandwidthRun run = run_by(plant, plant.network->tables(one), plant.all);
  EXPECT_EQ(run.unroutable, 0U);
  EXPECT_NEAR(run.least, 3.0 / 15 + 12.0 / 15 * 200 / 640, 1e-6);
  EXPECT_NEAR(run.largest, 1, 1e-6);
}

/// What is asked follows the cables that carry traffic, so that links that are off are no fault of the
/// tables.
TEST(Bandwidth, OverFewerCablesLessIsAsked) {
  const Plant plant{"tree:k=4,n=2"};
  const routing::LinkSet left = without(plant, "spine-1");
  const BandwidthRun run = run_by(plant, plant.network->tables(left), left);
  EXPECT_LT(run.each, 190e9);
  EXPECT_GT(run.least, 0.8);
}

TEST(Bandwidth, AHostThatNoTableLeadsToGetsLess) {
  const Plant plant{"tree:k=2,n=2"};
  routing::ForwardingTables tables = plant.tables;
  const PortIndex host = sim::host_ports(*plant.fabric).front();
  for (std::uint32_t s = 0; s < plant.network->graph().size(); ++s)
    tables.row(routing::SwitchIndex{s})[plant.fabric->port(host).lid.raw()] = no_path.raw();
  const BandwidthRun run = run_by(plant, tables, plant.all);
  EXPECT_EQ(run.unroutable, 3U);
  EXPECT_EQ(run.worst, plant.fabric->port(host).node);
  EXPECT_NEAR(run.least, 0.5, 1e-6) << "it still sends";
}

/// The same, with the link at this port at a quarter of its width.
std::shared_ptr<const Fabric> narrowed(const Fabric& fabric, LinkEnd at) {
  FabricBuilder builder;
  for (const Node& node : fabric.nodes()) {
    const NodeIndex index = builder.add_node(node).value();
    for (unsigned p = 0; p <= node.port_count; ++p)
      (void)builder.set_port(index, fabric.port(PortIndex{node.first_port.raw() + p}));
  }
  for (const Link& link : fabric.links()) {
    const bool is_it = link.a == at || link.b == at;
    (void)builder.add_link(link.a, link.b, is_it ? LinkWidth::X1 : link.width, link.speed);
  }
  return builder.build();
}

BandwidthRun run_narrowed(const Plant& plant, LinkEnd at) {
  const auto fabric = narrowed(*plant.fabric, at);
  const auto graph = routing::SwitchGraph::make(*fabric);
  EXPECT_TRUE(graph);
  const auto run = run_bandwidth(*fabric, *graph, plant.tables, routing::LinkSet::all(*fabric), 0);
  EXPECT_TRUE(run);
  return run.value();
}

/// Nobody waits for a host with a slow link, and it is asked for no more than that carries.
TEST(Bandwidth, ASlowHostIsAskedForLess) {
  const Plant plant{"tree:k=4,n=2"};
  const PortIndex host = sim::host_ports(*plant.fabric).front();
  const BandwidthRun run = run_narrowed(plant, {plant.fabric->port(host).node, plant.fabric->port(host).num});
  EXPECT_NEAR(run.each, 200e9, 1e6);
  EXPECT_NEAR(run.least, 1, 1e-6);
}

/// The first cable between two switches.
LinkEnd leaf_uplink(const Fabric& fabric) {
  const auto is_switch = [&](LinkEnd end) { return fabric.node(end.node).type == NodeType::Switch; };
  const auto found = std::ranges::find_if(
      fabric.links(), [&](const Link& link) { return is_switch(link.a) && is_switch(link.b); });
  return found->a;
}

/// One cable of all does not lower what is asked, so that those whom tables lead over it are found.
TEST(Bandwidth, ASlowCableBetweenSwitchesCostsThoseWhoNeedIt) {
  const Plant plant{"tree:k=4,n=2"};
  const BandwidthRun run = run_narrowed(plant, leaf_uplink(*plant.fabric));
  EXPECT_NEAR(run.each, 200e9, 1e6);
  EXPECT_LT(run.least, 0.95);
}

TEST(Bandwidth, OfOneHostNothingIsRun) {
  const Plant plant{"xgft:1;1;1"};
  const BandwidthRun run = run_by(plant, plant.tables, plant.all);
  EXPECT_EQ(run.hosts, 1U);
  EXPECT_EQ(run.worst, no_node);
}

}  // namespace
}  // namespace heddle::twin
