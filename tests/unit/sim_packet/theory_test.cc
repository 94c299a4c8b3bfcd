// What queueing theory says of single links, switches and rings.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/packet_plant.h"

namespace heddle::packet {
namespace {

using testing_support::plane;
using testing_support::plant;
using testing_support::Plant;
using testing_support::simulator;

/// Delivered flits per cycle and host of `vls` SLs, each with its part of the load.
double accepted(const Plant& at, const DataPlane& with, double load, std::int32_t flits, Cycle warm_up,
                Cycle cycles, int sls) {
  PacketSim sim = simulator(at, with);
  for (int sl = 0; sl < sls; ++sl) {
    sim.add_traffic({.sl = static_cast<std::uint8_t>(sl), .message_flits = flits, .rate = load / sls},
                    static_cast<std::uint64_t>(sl) + 11);
  }
  sim.run_until(warm_up);
  sim.start_measuring();
  sim.run_until(warm_up + cycles);
  std::uint64_t sum = 0;
  for (const Flow& flow : sim.measurements().by_sl) sum += flow.flits;
  return static_cast<double>(sum) / static_cast<double>(cycles) / sim.host_count();
}

/// A switch with one host on a link of a quarter of the other's rate.
Plant slow_source() {
  FabricBuilder builder;
  Node node;
  node.guid = NodeGuid{1};
  node.type = NodeType::Switch;
  node.port_count = 2;
  const NodeIndex centre = *builder.add_node(node);
  node.type = NodeType::ChannelAdapter;
  node.port_count = 1;
  node.guid = NodeGuid{2};
  const NodeIndex slow = *builder.add_node(node);
  node.guid = NodeGuid{3};
  const NodeIndex fast = *builder.add_node(node);
  EXPECT_TRUE(builder.add_link({slow, PortNum{1}}, {centre, PortNum{1}}, LinkWidth::X4, LinkSpeed::Sdr));
  EXPECT_TRUE(builder.add_link({fast, PortNum{1}}, {centre, PortNum{2}}, LinkWidth::X4, LinkSpeed::Qdr));
  Plant made;
  made.fabric = *assign_lids(*builder.build());
  const auto graph = *routing::SwitchGraph::make(*made.fabric);
  made.programming.forwarding = routing::route_minhop(graph, routing::LinkSet::all(*made.fabric));
  return made;
}

// Geo/D/1 with arrivals of probability p per cycle and service D cycles waits p D (D - 1) / (2 (1 - p D)) on
// average (Hunter, Mathematical Techniques of Applied Probability, volume 2, 1983: Geo/G/1).
TEST(Theory, ALinkWithBernoulliArrivalsWaitsAsGeoD1) {
  const Plant at = slow_source();
  constexpr double service = 4;
  for (const double p : {0.1, 0.2}) {
    PacketSim sim = simulator(at, plane(1, 1, 64));
    TrafficClass traffic{.message_flits = 1, .rate = p};
    traffic.pattern = Pattern::Incast;
    traffic.hot = {1};
    sim.add_traffic(traffic, 3);
    sim.run_until(2000);
    sim.start_measuring();
    sim.run_until(1'200'000);
    const Flow& flow = sim.measurements().by_sl[0];
    const double wait = flow.end_to_end.mean() - flow.network.mean();
    const double theory = p * service * (service - 1) / (2 * (1 - p * service));
    EXPECT_NEAR(wait, theory, 0.02 * theory) << "p = " << p;
  }
}

// Output queueing: (N - 1) / N p / (2 (1 - p)) slots (Karol, Hluchyj and Morgan, 1987, equation 3). A host
// does not send to itself, so an output is fed by N - 1 inputs.
TEST(Theory, OutputQueuesWaitAsKarolEtAlSay) {
  const Plant at = plant("xgft:1;16;1");
  DataPlane with = plane(1, 1, 512);
  with.output_lanes = 16;
  constexpr double p = 0.7;
  PacketSim sim = simulator(at, with);
  sim.add_traffic({.message_flits = 1, .rate = p}, 3);
  sim.run_until(1000);
  sim.start_measuring();
  sim.run_until(16'000);
  const double stages = 7;
  const double wait = sim.measurements().by_sl[0].end_to_end.mean() - stages;
  const double theory = 14.0 / 15 * p / (2 * (1 - p));
  EXPECT_NEAR(wait, theory, 0.05 * theory);
}

// 2 - sqrt(2) = 0.586 for large N (Karol, Hluchyj and Morgan, 1987).
TEST(Theory, FirstInFirstOutInputsBlockAt0586) {
  const double reached = accepted(plant("xgft:1;48;1"), plane(1, 1, 256), 1.0, 1, 1500, 3000, 1);
  EXPECT_GE(reached, 0.586);
  EXPECT_LE(reached, 0.60);
}

TEST(Theory, OutputQueuesReachAlmostAll) {
  DataPlane with = plane(1, 1, 1024);
  with.output_lanes = 48;
  EXPECT_GT(accepted(plant("xgft:1;48;1"), with, 0.98, 1, 1500, 1500, 1), 0.96);
}

TEST(Theory, VirtualLanesTakeTheBlockingAway) {
  const Plant at = plant("xgft:1;16;1");
  const double one = accepted(at, plane(1, 1, 256), 1.0, 1, 1000, 3000, 1);
  DataPlane with = plane(4, 1, 64);
  with.allocation_passes = 4;
  const double four = accepted(at, with, 1.0, 1, 1000, 3000, 4);
  with = plane(15, 1, 64);
  with.allocation_passes = 4;
  const double fifteen = accepted(at, with, 1.0, 1, 1000, 3000, 15);
  EXPECT_GT(four, one + 0.15);
  EXPECT_GT(fifteen, 0.93);
}

// Under uniform traffic half of all flits cross the middle of a ring of k switches with h hosts each, over
// two links a direction: at most 8 / (k h) flits per cycle and host (Dally and Towles, 2004, 3.3).
TEST(Theory, ATorusSaturatesBelowItsBisection) {
  const Plant at = plant("torus:8x8,hosts=2,links=1");
  DataPlane with = plane(4, 4, 32);
  with.ring_rule = RingRule::DateLine;
  for (std::size_t sl = 0; sl < 32; ++sl) with.sl_to_vl[sl] = sl % 2;
  EXPECT_NEAR(accepted(at, with, 0.28, 4, 1500, 1500, 2), 0.28, 0.01);
  EXPECT_LE(accepted(at, with, 1.0, 4, 1500, 1500, 2), 0.5);
}

}  // namespace
}  // namespace heddle::packet
