#include "sim/flow/flow_plane.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <algorithm>
#include <cmath>

#include "base/random.h"
#include "flow_fixture.h"
#include "mad/header.h"

namespace heddle::sim {
namespace {

TEST(FlowPlane, CountsRateTimesTimeAtBothEnds) {
  FlowBench b(one_switch);
  b.add(0, 1, BitRate{32 * gbit});
  EXPECT_EQ(b.plane.read(b.hosts[0], 3_s).xmit_data, 3'000'000'000U);  // units of 32 bits
  EXPECT_EQ(b.plane.read(b.leaf_port(b.hosts[0]), 3_s).rcv_data, 3'000'000'000U);
  EXPECT_EQ(b.plane.read(b.leaf_port(b.hosts[1]), 3_s).xmit_data, 3'000'000'000U);
  EXPECT_EQ(b.plane.read(b.hosts[1], 3_s).rcv_data, 3'000'000'000U);
  EXPECT_EQ(b.plane.read(b.hosts[1], 3_s).rcv_packets, 12'000'000'000U / 4096);
  EXPECT_EQ(b.plane.read(b.hosts[0], 3_s).xmit_wait, 0U);
  EXPECT_EQ(b.plane.read(b.hosts[1], 3_s).xmit_data, 0U);
  EXPECT_EQ(b.plane.read_vls(b.hosts[0], 3_s).xmit_data[0], 3'000'000'000U);
}

TEST(FlowPlane, ReadingsAddUpHoweverOftenTheyAreTaken) {
  FlowBench often(one_switch);
  FlowBench once(one_switch);
  for (FlowBench* b : {&often, &once}) {
    b->add(0, 3);
    b->add(1, 3);
    b->add(2, 3);  // a third each: no whole number of anything
  }
  for (int i = 1; i <= 1000; ++i) (void)often.plane.read(often.hosts[0], Picoseconds{i * 1'000'000'007LL});
  const auto total = once.plane.read(once.hosts[0], Picoseconds{1'000'000'007'000LL});
  EXPECT_EQ(often.plane.read(often.hosts[0], Picoseconds{1'000'000'007'000LL}).xmit_data, total.xmit_data);
  const double exact = 200 * gbit / 3 * 1.000000007 / 32;
  EXPECT_NEAR(static_cast<double>(total.xmit_data), exact, 1);
}

// 1,440 hosts, 288 Tbit/s: as many as 64 bits would not count in units of 2^-16 bit/s.
TEST(FlowPlane, CountsWhatAllHostsOfALargeFabricSend) {
  FlowBench b("xgft:2;40,36;1,2");
  for (std::size_t i = 0; i < b.hosts.size(); ++i) b.add(i, i ^ 1U);
  const double all = static_cast<double>(b.hosts.size()) * 200 * gbit;
  EXPECT_DOUBLE_EQ(b.plane.figures(1_s).wanted.value(), all);
  EXPECT_DOUBLE_EQ(b.plane.figures(1_s).delivered.value(), all);
  EXPECT_EQ(b.plane.figures(10_s).delivered_bytes, static_cast<std::uint64_t>(all) * 10 / 8);
}

// All of them to one: more is held at its port than that many bits would count, too.
TEST(FlowPlane, CountsWhatWaitsForOneOfALargeFabric) {
  FlowBench b("xgft:2;40,36;1,2");
  for (std::size_t i = 1; i < b.hosts.size(); ++i) b.add(i, 0);
  const auto waiting = static_cast<double>(b.hosts.size() - 1);
  EXPECT_NEAR(b.plane.waiting(b.leaf_port(b.hosts[0]), 1_s).value(), (waiting - 1) / waiting, 1e-6);
}

// Both want all of a link, and share it: each waits half of the time, at the port where they meet.
TEST(FlowPlane, DataWaitsWhereItIsHeldBack) {
  FlowBench b(one_switch);
  b.add(0, 2);
  b.add(1, 2);
  const PortIndex meeting = b.leaf_port(b.hosts[2]);
  EXPECT_DOUBLE_EQ(b.plane.sent(meeting, 0_s).value(), 200 * gbit);
  EXPECT_DOUBLE_EQ(b.plane.waiting(meeting, 0_s).value(), 0.5);
  EXPECT_DOUBLE_EQ(b.plane.waiting(b.hosts[0], 0_s).value(), 0);
  EXPECT_EQ(b.plane.read(meeting, 2_s).xmit_wait, 250'000'000U);  // of 500 million ticks of 4 ns
  EXPECT_EQ(b.plane.read_vls(meeting, 2_s).xmit_wait[0], 250'000'000U);
  EXPECT_EQ(b.plane.queue_depth(meeting, Vl{0}, 2_s), 256U);
  EXPECT_GT(b.plane.queue_delay(meeting, Vl{0}, 2_s), Picoseconds{0});
}

TEST(FlowPlane, AccountsPhasesExactly) {
  FlowBench b(one_switch);
  const TrafficId first = b.add(0, 2);
  const TrafficId second = b.add(1, 2, unlimited, 1_s);
  b.plane.remove(first, 3_s);
  b.plane.set_demand(second, BitRate{8 * gbit}, 4_s);
  // 0-1 s alone at 200, 1-3 s half each; then the second alone at 200 until 4 s, and at 8 until 5 s.
  EXPECT_EQ(b.plane.read(b.hosts[0], 5_s).xmit_data, (200 + 2 * 100) * 1'000'000'000ULL / 32);
  EXPECT_EQ(b.plane.read(b.hosts[1], 5_s).xmit_data, (2 * 100 + 200 + 8) * 1'000'000'000ULL / 32);
  EXPECT_EQ(b.plane.read(b.leaf_port(b.hosts[2]), 5_s).xmit_wait, 2 * 125'000'000U);
  EXPECT_EQ(b.plane.figures(5_s).delivered_bytes, (400 + 408) * 1'000'000'000ULL / 8);
}

TEST(FlowPlane, ALinkThatGoesOffTakesItsTrafficWithIt) {
  FlowBench b(one_switch);
  const TrafficId flow = b.add(0, 1, BitRate{80 * gbit});
  const TrafficId other = b.add(2, 3, BitRate{80 * gbit});
  b.fabric.cut(b.link(b.hosts[1]), 1_s);
  EXPECT_EQ(b.plane.route_end(flow, 1_s), RouteEnd::LinkOff);
  EXPECT_EQ(b.plane.rate(flow, 1_s).value(), 0);
  EXPECT_EQ(b.plane.rate(other, 1_s).value(), 80 * gbit);
  const FlowFigures figures = b.plane.figures(2_s);
  EXPECT_EQ(figures.flows, 2U);
  EXPECT_EQ(figures.into_off_link, 1U);
  EXPECT_EQ(figures.unroutable, 0U);
  EXPECT_EQ(figures.lost_bytes, 10'000'000'000U);
  EXPECT_EQ(b.plane.read(b.hosts[0], 2_s).xmit_data, 2'500'000'000U);
  EXPECT_EQ(b.plane.read(b.leaf_port(b.hosts[1]), 2_s).inactive_discards, 10'000'000'000U / 4096);
  EXPECT_EQ(b.plane.read(b.leaf_port(b.hosts[1]), 2_s).xmit_discards, 10'000'000'000U / 4096);
}

TEST(FlowPlane, TrafficComesBackWithTheFabric) {
  FlowBench b("xgft:2;4,4;1,2");
  for (std::size_t i = 0; i < b.hosts.size(); ++i) b.add(i, (i + 5) % b.hosts.size());
  const BitRate before = b.plane.figures(0_s).delivered;
  EXPECT_GT(before.value(), 0);
  for (std::uint32_t n = 0; n < b.fabric.description().nodes().size(); ++n) b.fabric.kill(NodeIndex{n}, 1_s);
  EXPECT_EQ(b.plane.figures(2_s).delivered.value(), 0);
  EXPECT_EQ(b.plane.figures(2_s).into_off_link, b.hosts.size());
  for (std::uint32_t n = 0; n < b.fabric.description().nodes().size(); ++n)
    b.fabric.revive(NodeIndex{n}, 3_s);
  bring_up(b.fabric);
  EXPECT_NEAR(b.plane.figures(4_s).delivered.value(), before.value(), 1);
}

TEST(FlowPlane, FlowsWaitForASubnetManager) {
  SimulatedFabric fabric(*generate(one_switch));
  const FabricView view(fabric);
  FlowPlane plane(view);
  fabric.set_change_listener(&plane);
  const auto& nodes = fabric.description().nodes();
  const PortIndex from{nodes[1].first_port.raw() + 1};
  const PortIndex to{nodes[2].first_port.raw() + 1};
  const auto flow = plane.add({.from = from, .to = to}, 0_s);
  ASSERT_TRUE(flow);
  EXPECT_EQ(plane.rate(*flow, 0_s).value(), 0);
  fabric.advance(5_ms);
  bring_up(fabric);
  EXPECT_EQ(plane.route_end(*flow, 5_ms), RouteEnd::Delivered);
  EXPECT_EQ(plane.rate(*flow, 5_ms).value(), 200 * gbit);
}

/// Counts how often tables are asked for a way.
class CountingView : public FabricView {
 public:
  using FabricView::FabricView;
  [[nodiscard]] PortNum output(NodeIndex node, Lid lid) const override {
    ++asked;
    return FabricView::output(node, lid);
  }
  mutable std::size_t asked = 0;
};

/// Sets one entry of the table of a switch, by a MAD with the whole block.
void set_entry(SimulatedFabric& fabric, PortIndex agent, Lid lid, PortNum out) {
  constexpr unsigned lids_per_block = 64;
  mad::Header header;
  header.attribute = static_cast<std::uint16_t>(mad::SmAttr::LinearForwardingTable);
  header.modifier = lid.raw() / lids_per_block;
  mad::Bytes smp{};
  header.method = mad::Method::Get;
  mad::write_header(header, smp);
  ASSERT_TRUE(fabric.ask(agent, smp, fabric.now()));
  auto block = mad::decode<mad::LftBlock>(mad::smp_data(smp));
  block.ports[lid.raw() % lids_per_block] = out;
  header.method = mad::Method::Set;
  mad::write_header(header, smp);
  mad::encode(block, mad::smp_data(smp));
  ASSERT_TRUE(fabric.ask(agent, smp, fabric.now()));
}

// A subnet manager that comes to a large fabric under traffic writes every block of every switch. If each
// made all flows of the switch be followed anew, its MADs would time out.
TEST(FlowPlane, ABlockOfATableConcernsOnlyFlowsToItsLids) {
  SimulatedFabric fabric{*generate("xgft:1;100;1")};
  CountingView view{fabric};
  FlowPlane plane{view};
  fabric.set_change_listener(&plane);
  bring_up(fabric);
  const auto hosts = host_ports(fabric.description());
  const auto lid_of = [&](PortIndex port) { return fabric.port_info(port).lid; };
  const auto by_lid = [&](unsigned from, unsigned to) {
    return *std::find_if(hosts.begin(), hosts.end(), [&](PortIndex port) {
      return lid_of(port).raw() >= from && lid_of(port).raw() < to;
    });
  };
  const PortIndex near = by_lid(2, 64);
  const PortIndex far = by_lid(64, 101);
  const TrafficId flow = *plane.add({.from = far, .to = near, .demand = BitRate{gbit}}, 1_s);
  const Port& port = fabric.description().port(near);
  const NodeIndex at = fabric.description().peer({port.node, port.num})->node;
  const PortIndex agent = fabric.description().node(at).first_port;

  const std::size_t before = view.asked;
  set_entry(fabric, agent, lid_of(far), no_path);
  EXPECT_EQ(view.asked, before);
  EXPECT_EQ(plane.route_end(flow, 2_s), RouteEnd::Delivered);
  set_entry(fabric, agent, lid_of(near), no_path);
  EXPECT_GT(view.asked, before);
  EXPECT_EQ(plane.route_end(flow, 3_s), RouteEnd::NoRoute);
}

TEST(FlowPlane, RefusesEndsThatCannotBe) {
  FlowBench b(one_switch);
  const PortIndex inner = b.leaf_port(b.hosts[0]);
  const auto error = [&](PortIndex from, PortIndex to) {
    const auto result = b.plane.add({.from = from, .to = to}, 0_s);
    return result ? std::string() : result.error().message;
  };
  EXPECT_THAT(error(inner, b.hosts[0]), testing::HasSubstr("cannot start at port"));
  EXPECT_THAT(error(b.hosts[0], inner), testing::HasSubstr("cannot end at port"));
  EXPECT_THAT(error(b.hosts[0], b.hosts[0]), testing::HasSubstr("to itself"));
  EXPECT_THAT(error(PortIndex{100'000}, b.hosts[0]), testing::HasSubstr("100000"));
  EXPECT_FALSE(b.plane.add({.from = b.hosts[0], .to = b.hosts[1], .demand = BitRate{-1}}, 0_s));
  EXPECT_FALSE(b.plane.add({.from = b.hosts[0], .to = b.hosts[1], .demand = BitRate{NAN}}, 0_s));
}

/// Every flow's route, looked up step by step in the tables of the fabric; nothing for one that is lost.
std::vector<PortIndex> route(const SimulatedFabric& fabric, const TrafficFlow& flow) {
  std::vector<PortIndex> ports{flow.from};
  const Fabric& description = fabric.description();
  const Lid lid = fabric.port_info(flow.to).lid;
  for (int hops = 0; hops < 100; ++hops) {
    if (!fabric.forwards(ports.back())) return {};
    const Port& out = description.port(ports.back());
    const LinkEnd in = *description.peer({out.node, out.num});
    if (description.port_index(in) == flow.to) return ports;
    const auto table = fabric.forwarding_table(in.node);
    if (table.size() <= lid.raw() || table[lid.raw()] == no_path) return {};
    ports.push_back(description.port_index(in.node, table[lid.raw()]));
  }
  return {};
}

/// The rates of what is there, from nothing: plain water filling over the routes.
std::vector<double> expected_rates(const SimulatedFabric& fabric, const std::vector<TrafficFlow>& flows) {
  std::vector<std::vector<PortIndex>> routes;
  for (const auto& flow : flows) routes.push_back(route(fabric, flow));
  std::vector<double> rate(flows.size(), 0);
  std::vector<bool> stopped(flows.size());
  for (std::size_t f = 0; f < flows.size(); ++f) stopped[f] = routes[f].empty();
  const auto capacity = [&](PortIndex port) {
    return data_rate(fabric.active_width(port), fabric.active_speed(port)).value();
  };
  for (;;) {
    std::unordered_map<PortIndex, std::pair<double, int>> left;  // and open flows
    for (std::size_t f = 0; f < flows.size(); ++f) {
      for (const PortIndex port : routes[f]) {
        auto& entry = left.try_emplace(port, capacity(port), 0).first->second;
        entry.first -= rate[f];
        entry.second += stopped[f] ? 0 : 1;
      }
    }
    double step = INFINITY;
    for (std::size_t f = 0; f < flows.size(); ++f) {
      if (!stopped[f]) step = std::min(step, flows[f].demand.value() - rate[f]);
    }
    for (const auto& [port, entry] : left) {
      if (entry.second > 0) step = std::min(step, entry.first / entry.second);
    }
    if (std::isinf(step)) return rate;
    for (std::size_t f = 0; f < flows.size(); ++f) {
      if (!stopped[f]) rate[f] += step;
    }
    for (std::size_t f = 0; f < flows.size(); ++f) {
      if (stopped[f]) continue;
      stopped[f] = flows[f].demand.value() - rate[f] < 1 ||
                   std::any_of(routes[f].begin(), routes[f].end(), [&](PortIndex port) {
                     return left[port].first - step * left[port].second < 1;
                   });
    }
  }
}

/// Random matrices while links go off and on: rates, port totals and counters all along.
void check_random_traffic(std::uint64_t seed) {
  Random random(seed);
  FlowBench b("random:switches=8,hosts=16,links=14,ports=12,seed=3");
  std::vector<TrafficFlow> flows;
  std::vector<TrafficId> ids;
  std::vector<double> bits(b.fabric.description().ports().size(), 0);
  Picoseconds at{0};
  for (int step = 0; step < 6; ++step) {
    for (int i = 0; i < 8; ++i) {
      const auto from = random.below(b.hosts.size());
      const auto to = (from + 1 + random.below(b.hosts.size() - 1)) % b.hosts.size();
      const BitRate demand = random.chance(0.5) ? unlimited : BitRate{random.unit() * 200 * gbit};
      flows.push_back({.from = b.hosts[from], .to = b.hosts[to], .demand = demand});
      ids.push_back(*b.plane.add(flows.back(), at));
    }
    if (step > 2) {
      const std::size_t gone = random.below(ids.size());
      b.plane.remove(ids[gone], at);
      ids.erase(ids.begin() + static_cast<std::ptrdiff_t>(gone));
      flows.erase(flows.begin() + static_cast<std::ptrdiff_t>(gone));
    }
    const LinkIndex link{static_cast<std::uint32_t>(random.below(b.fabric.description().links().size()))};
    if (random.chance(0.5)) b.fabric.cut(link, at);

    const auto expected = expected_rates(b.fabric, flows);
    const double length = 0.001 * static_cast<double>(1 + random.below(1000));
    for (std::size_t f = 0; f < flows.size(); ++f) {
      RC_ASSERT(std::abs(b.plane.rate(ids[f], at).value() - expected[f]) < 200 * gbit * MaxMin::tolerance);
      for (const PortIndex port : route(b.fabric, flows[f])) bits[port.raw()] += expected[f] * length;
    }
    at += Picoseconds{static_cast<std::int64_t>(std::llround(length * 1e12))};
    for (std::uint32_t p = 0; p < bits.size(); ++p) {
      const double units = bits[p] / 32;
      const auto totals = b.plane.read(PortIndex{p}, at);
      RC_ASSERT(std::abs(static_cast<double>(totals.xmit_data) - units) < 2 + 1e-9 * units);
    }
  }
}

TEST(FlowPlane, CountersAreTheIntegralsOfIndependentRates) {
  EXPECT_TRUE(rc::check([](std::uint64_t seed) { check_random_traffic(seed); }));
}

}  // namespace
}  // namespace heddle::sim
