/// Flows followed through tables against the flow plane's: the same figures.
#include "twin/flow_loads.h"

#include <gtest/gtest.h>

#include "twin/scenario_flows.h"
#include "unit/twin/twin_fixture.h"

namespace heddle::twin {
namespace {

constexpr double light = 0.01;
constexpr double near = 1e-9;

std::vector<PortIndex> hosts(const Plant& plant) {
  std::vector<PortIndex> all;
  for (const routing::Target& target : plant.network->graph().targets()) {
    if (target.kind == routing::TargetKind::Host) all.push_back(target.port);
  }
  return all;
}

/// Each host sends so much of its link to one other.
std::vector<sim::TrafficFlow> flows(const Plant& plant, std::size_t step, double load) {
  const auto all = hosts(plant);
  const double rate =
      load * data_rate(plant.fabric->links()[0].width, plant.fabric->links()[0].speed).value();
  std::vector<sim::TrafficFlow> made;
  for (std::size_t i = 0; i < all.size(); ++i)
    made.push_back({.from = all[i], .to = all[(i + step) % all.size()], .demand = BitRate{rate}});
  return made;
}

void expect_same(const Prediction& quick, const Prediction& plane) {
  EXPECT_EQ(quick.flows, plane.flows);
  EXPECT_EQ(quick.unroutable, plane.unroutable);
  EXPECT_NEAR(quick.wanted, plane.wanted, 1);
  EXPECT_NEAR(quick.carried, plane.carried, near * quick.carried + 1);
  EXPECT_NEAR(quick.largest, plane.largest, 1e-9);
  EXPECT_NEAR(quick.largest_of_hosts, plane.largest_of_hosts, 1e-9);
  ASSERT_EQ(quick.load.size(), plane.load.size());
  for (std::size_t i = 0; i < quick.load.size(); ++i)
    EXPECT_NEAR(quick.load[i], plane.load[i], near * quick.load[i] + 1) << i;
  ASSERT_EQ(quick.of_host.size(), plane.of_host.size());
  for (std::size_t i = 0; i < quick.of_host.size(); ++i)
    EXPECT_NEAR(quick.of_host[i], plane.of_host[i], near * quick.of_host[i] + 1) << i;
}

/// True where the flows could be followed.
bool compare(const Plant& plant, const routing::LinkSet& active, const std::vector<sim::TrafficFlow>& flows,
             unsigned plane = 0) {
  const View view{*plant.fabric, plant.network->graph(), plant.tables, active, nullptr};
  const auto quick = follow_flows(view, flows, plane);
  if (quick) expect_same(*quick, *predict(view, with(flows), Picoseconds{0}, plane));
  return quick.has_value();
}

TEST(FlowLoads, AreThePlanesWhereNobodyWaits) {
  for (const char* generator : {"tree:k=4,n=2", "torus:4x4,hosts=2", "xgft:3;2,3,2;1,2,2"}) {
    const Plant plant{generator};
    for (const std::size_t step : {1, 3, 7})
      EXPECT_TRUE(compare(plant, plant.all, flows(plant, step, light))) << generator;
  }
}

TEST(FlowLoads, WhatIsLedAstrayIsLostToBoth) {
  Plant plant{"tree:k=4,n=2"};
  const routing::SwitchGraph& graph = plant.network->graph();
  routing::LinkSet some = plant.all;
  some.erase(graph.hops(routing::SwitchIndex{0})[0].link);
  EXPECT_TRUE(compare(plant, some, flows(plant, 5, light)));
  // No entry; a port that is not there; a circle.
  const auto all = hosts(plant);
  const Lid first = plant.fabric->port(all.front()).lid;
  for (std::uint32_t s = 0; s < graph.size(); ++s)
    plant.tables.row(routing::SwitchIndex{s})[first.raw()] = s % 2 == 0 ? no_path.raw() : 200;
  const Lid last = plant.fabric->port(all.back()).lid;
  for (std::uint32_t s = 0; s < graph.size(); ++s) {
    plant.tables.row(routing::SwitchIndex{s})[last.raw()] = graph.hops(routing::SwitchIndex{s})[0].out.raw();
  }
  EXPECT_TRUE(compare(plant, some, flows(plant, 1, light)));
}

TEST(FlowLoads, WhoCrossesLinksThatAreAskedForMoreSharesThem) {
  for (const char* generator : {"tree:k=4,n=2", "torus:4x4,hosts=2", "xgft:3;2,3,2;1,2,2"}) {
    const Plant plant{generator};
    for (const double load : {0.4, 0.9, 1.0}) {
      auto many = flows(plant, 1, load);
      for (const std::size_t step : {2, 3, 5, 7}) {
        const auto more = flows(plant, step, load / static_cast<double>(step));
        many.insert(many.end(), more.begin(), more.end());
      }
      EXPECT_TRUE(compare(plant, plant.all, many)) << generator;
    }
  }
}

TEST(FlowLoads, OnlyThePlaneKnowsQos) {
  const Plant plant{"tree:k=4,n=2"};
  const qos::Programming qos;
  const View view{*plant.fabric, plant.network->graph(), plant.tables, plant.all, &qos};
  EXPECT_FALSE(follow_flows(view, flows(plant, 1, light), 0));
  EXPECT_TRUE(predict_flows(view, flows(plant, 1, light), 0));
}

/// What the player puts into the plane by then is what is listed.
TEST(FlowLoads, OfAScenarioAreThoseThatItPlays) {
  const Plant plant{"tree:k=4,n=2"};
  const auto scenario = sim::parse_scenario(
      "[[phase]]\npattern = \"uniform\"\nload = 0.5\ndestinations = 3\nchange = \"2s\"\n"
      "[[phase]]\npattern = \"all-to-all\"\nload = 0.4\nstart = \"5s\"\nlength = \"10s\"\n",
      "test");
  ASSERT_TRUE(scenario);
  const View view{*plant.fabric, plant.network->graph(), plant.tables, plant.all, nullptr};
  for (const int seconds : {0, 3, 6, 20}) {
    const Picoseconds at{seconds * 1'000'000'000'000};
    sim::ScenarioPlayer player{*plant.fabric};
    ASSERT_TRUE(player.add(*scenario));
    const auto played = predict(
        view,
        [&](sim::TrafficPlane& plane) -> Result<void> {
          plane.set_schedule(&player);
          return {};
        },
        at);
    const auto listed = flows_at(*scenario, *plant.fabric, at);
    ASSERT_TRUE(listed);
    const auto quick = follow_flows(view, *listed, 0);
    ASSERT_TRUE(quick);
    EXPECT_GT(quick->carried, 0);
    expect_same(*quick, *played);
  }
}

TEST(FlowLoads, SendersHaveNoMoreThanTheirLink) {
  const Plant plant{"tree:k=4,n=2"};
  auto one = flows(plant, 5, light);
  one.resize(1);
  one[0].demand = sim::unlimited;
  EXPECT_TRUE(compare(plant, plant.all, one));
}

}  // namespace
}  // namespace heddle::twin
