// One run in parts, on threads: to the last bit what it is as a whole.
#include "sim/experiment/parallel_sim.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <array>
#include <set>

#include "sim/experiment/experiment.h"
#include "sim/experiment/results.h"
#include "support/packet_planes.h"
#include "support/packet_plant.h"

namespace heddle::packet {
namespace {

using testing_support::any_plane;
using testing_support::plane;
using testing_support::Plant;
using testing_support::plant;

ParallelSim in_parts(const Plant& at, const DataPlane& with, unsigned parts,
                     PartThreads threads = PartThreads::One) {
  return *ParallelSim::make(*build_network(at.fabric, at.programming, with), parts, threads);
}

/// All that can be seen of a run, but for the number of events.
struct Seen {
  Measurements measurements;
  std::vector<std::uint64_t> numbers;
  friend bool operator==(const Seen&, const Seen&) = default;
};

Seen see(const ParallelSim& sim, const DataPlane& with) {
  const Totals t = sim.totals();
  Seen seen{sim.measurements(),
            {t.messages_generated, t.messages_delivered, t.messages_lost, t.injected, t.delivered, t.broken,
             t.unroutable, t.lost, t.discarded, t.lost_flits, t.flit_hops, t.packet_hops,
             sim.packets_in_flight(), sim.messages_in_flight()}};
  for (std::uint32_t slot = 0; slot < sim.network().port_of_slot.size(); ++slot) {
    const PortCount c = sim.count(PortIndex{slot});
    seen.numbers.insert(seen.numbers.end(),
                        {c.packets, c.flits, c.stalled, c.discards, c.inactive, c.broken});
    for (unsigned vl = 0; vl < static_cast<unsigned>(with.vls); ++vl) {
      const LaneCount lane = sim.lane_count(PortIndex{slot}, vl);
      seen.numbers.insert(seen.numbers.end(), {lane.packets, lane.flits, lane.stalled});
    }
  }
  return seen;
}

/// What chooses among links, and what takes packets away.
DataPlane any_plane_in_parts() {
  DataPlane with = any_plane();
  with.count_lanes = true;
  const auto speed = [] { return *rc::gen::element(1, 2, 3); };
  if (with.model == SwitchModel::InfiniBand) {
    with.crossbar_speed = speed();
  } else {
    with.mport_speed = speed();
    with.central_speed = speed();
  }
  with.up_routing = *rc::gen::element(UpRouting::Programmed, UpRouting::Valiant, UpRouting::Adaptive);
  with.trunk_routing =
      *rc::gen::element(TrunkRouting::Programmed, TrunkRouting::PerMessage, TrunkRouting::Adaptive);
  with.closed_link = *rc::gen::element(packet::ClosedLink::Discard, packet::ClosedLink::Hold);
  with.head_lifetime = *rc::gen::element<Cycle>(0, 150, 400);
  if (*rc::gen::arbitrary<bool>()) with.sl_turns = {{0, static_cast<std::uint8_t>(with.vls - 1)}};
  return with;
}

/// Several classes on the same hosts, SLs that share VLs, several packets a message.
std::vector<TrafficClass> any_traffic() {
  std::vector<TrafficClass> classes(3);
  for (std::size_t i = 0; i < classes.size(); ++i) {
    TrafficClass& one = classes[i];
    one.sl = static_cast<std::uint8_t>(i);
    one.pattern =
        *rc::gen::element(Pattern::Uniform, Pattern::Neighbour, Pattern::Permutation, Pattern::AllToAll);
    one.process = *rc::gen::element(Process::Bernoulli, Process::Cbr, Process::Burst, Process::Backlog);
    one.message_flits = *rc::gen::inRange(1, 60);
    one.rate = *rc::gen::element(0.05, 0.2, 0.5);
    one.connections = *rc::gen::inRange(0, 3);
  }
  return classes;
}

/// A run during which links close and open.
Seen run_in_parts(const Plant& at, const DataPlane& with, const std::vector<TrafficClass>& classes,
                  std::uint64_t seed, unsigned parts) {
  ParallelSim sim = in_parts(at, with, parts);
  Random random{seed};
  for (const TrafficClass& one : classes) sim.add_traffic(one, random());
  const std::size_t links = at.fabric->links().size();
  for (int i = 0; i < 5; ++i) {
    const LinkIndex link{static_cast<std::uint32_t>(random.below(links))};
    sim.set_link(link, false);
    sim.run_until(sim.now() + 137);
    if (i == 1) sim.start_measuring();
    sim.set_link(link, true);
    sim.run_until(sim.now() + 200);
  }
  return see(sim, with);
}

TEST(Parallel, AnyNumberOfPartsGivesTheSame) {
  EXPECT_TRUE(rc::check("all figures of all ports are equal", [] {
    DataPlane with = any_plane_in_parts();
    const auto text = *rc::gen::element<std::string>("tree:k=2,n=3", "tree:k=4,n=2", "xgft:2;5,3;1,2",
                                                     "mesh:3x3,hosts=2,links=2", "torus:4x4,hosts=1,links=2");
    const Plant at = plant(text);
    if (text.starts_with("torus") && with.vls % 2 == 0) {
      with.ring_rule = RingRule::DateLine;
      with.sl_to_vl.fill(0);
      with.sl_turns.clear();
    }
    const std::vector<TrafficClass> classes = any_traffic();
    const auto seed = *rc::gen::arbitrary<std::uint64_t>();
    const Seen whole = run_in_parts(at, with, classes, seed, 1);
    RC_ASSERT(run_in_parts(at, with, classes, seed, 2) == whole);
    RC_ASSERT(run_in_parts(at, with, classes, seed, *rc::gen::inRange(3U, 6U)) == whole);
  }));
}

// Each part on a thread of its own; the only thing that threads add is that they meet.
TEST(Parallel, ThreadsGiveTheSame) {
  const Plant at = plant("tree:k=4,n=2");
  DataPlane with = plane(2, 8, 32);
  with.count_lanes = true;
  with.delays.flight = with.delays.credit = 20;  // a meeting every 20 cycles
  with.up_routing = UpRouting::Valiant;
  const auto seen = [&](unsigned parts) {
    ParallelSim sim = in_parts(at, with, parts, PartThreads::Each);
    sim.add_traffic({.message_flits = 20, .rate = 0.3}, 1);
    sim.run_until(500);
    sim.start_measuring();
    sim.set_link(LinkIndex{3}, false);
    sim.run_until(1500);
    return see(sim, with);
  };
  const Seen whole = seen(1);
  EXPECT_EQ(seen(2), whole);
  EXPECT_EQ(seen(4), whole);
}

// Tables that lead a packet to the wrong host, or nowhere: its message ends in another part than it began.
TEST(Parallel, WrongTablesAreCountedAlike) {
  const Plant at = plant("tree:k=4,n=2");
  DataPlane with = plane(2, 8, 32);
  with.count_lanes = true;
  const auto seen = [&](unsigned parts) {
    ParallelSim sim = in_parts(at, with, parts);
    auto tables = at.programming.forwarding;
    const Lid first = sim.network().hosts.front().lid;
    const Lid last = sim.network().hosts.back().lid;
    for (const SwitchElement& element : sim.network().switches) {
      const routing::SwitchIndex row{element.row};
      tables.set(row, first, tables.port(row, last));
    }
    sim.add_traffic({.message_flits = 20, .rate = 0.3}, 1);
    sim.run_until(500);
    sim.set_forwarding(std::move(tables));
    sim.run_until(3000);
    EXPECT_GT(sim.totals().unroutable, 10U);
    return see(sim, with);
  };
  EXPECT_EQ(seen(1), seen(3));
}

TEST(Parallel, PartsHaveAboutTheSameWork) {
  for (const char* text : {"tree:k=4,n=3", "tree:k=6,n=2", "torus:4x4,hosts=2,links=2", "xgft:2;5,3;1,2"}) {
    const Plant at = plant(text);
    const Network net = *build_network(at.fabric, at.programming, plane(1, 8, 32));
    const Division in_two = divide(net, 2);
    std::array<std::size_t, 2> ports{};
    for (std::size_t s = 0; s < net.switches.size(); ++s) ports[in_two.of_switch[s]] += net.switches[s].ports;
    const auto all = static_cast<double>(ports[0] + ports[1]);
    EXPECT_NEAR(static_cast<double>(ports[0]) / all, 0.5, 0.13) << text;
  }
  const Plant star = plant("xgft:1;4;1");
  EXPECT_EQ(divide(*build_network(star.fabric, star.programming, plane(1, 8, 32)), 8).parts, 1U);
}

// The last run of a campaign takes the cores that the others left.
TEST(Parallel, ACampaignWithFewerRunsThanThreadsGivesTheSame) {
  const auto experiment = read_experiment(R"(
fabric = "tree:k=6,n=3"
warm_up = 200
measure = 300
loads = [0.2, 0.4, 0.6]
[plane]
up_routing = "valiant"
delays = { flight = 20, credit = 20 }
[[traffic]]
part = 1
)",
                                          "e.toml");
  ASSERT_TRUE(experiment) << experiment.error().message;
  const auto site = prepare(*experiment);
  ASSERT_TRUE(site) << site.error().message;
  const auto one = run_all(*experiment, *site, 1, {});
  ASSERT_TRUE(one) << one.error().message;
  for (const unsigned threads : {2U, 7U}) {
    const auto several = run_all(*experiment, *site, threads, {});
    ASSERT_TRUE(several) << several.error().message;
    EXPECT_EQ(results_json(*experiment, *one), results_json(*experiment, *several));
  }
}

}  // namespace
}  // namespace heddle::packet
