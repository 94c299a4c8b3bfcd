// What a switch is like inside: how fast its crossbars are, who decides what an output takes, what a lost
// arbitration costs, what is moved as one.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <map>

#include "support/packet_plant.h"

namespace heddle::packet {
namespace {

using testing_support::plane;
using testing_support::Plant;
using testing_support::plant;
using testing_support::simulator;

struct ArrivalLog : DeliveryListener {
  std::vector<Cycle> at;
  std::map<std::uint32_t, std::int64_t> flits_of;  ///< by source
  void delivered(const Delivery& delivery) override {
    at.push_back(delivery.at);
    flits_of[delivery.source] += delivery.flits;
  }
};

/// Delivered flits per cycle and host, by SL, of `rates` offered to all hosts.
std::vector<double> carried(const Plant& at, const DataPlane& with, const std::vector<double>& rates,
                            const std::vector<std::int32_t>& message) {
  PacketSim sim = simulator(at, with);
  for (std::uint8_t sl = 0; sl < rates.size(); ++sl) {
    sim.add_traffic({.sl = sl, .message_flits = message[sl], .rate = rates[sl]}, sl + 1U);
  }
  constexpr Cycle warm_up = 4000;
  constexpr Cycle cycles = 12'000;
  sim.run_until(warm_up);
  sim.start_measuring();
  sim.run_until(warm_up + cycles);
  std::vector<double> each;
  for (std::size_t sl = 0; sl < rates.size(); ++sl) {
    each.push_back(static_cast<double>(sim.measurements().by_sl[sl].flits) / cycles / sim.host_count());
  }
  return each;
}

double sum(const std::vector<double>& parts) {
  double all = 0;
  for (const double part : parts) all += part;
  return all;
}

// First-in first-out inputs block at 0.6 of the links' rate; twice as fast they feed the outputs.
TEST(Inside, AFasterCrossbarCarriesMore) {
  const Plant star = plant("xgft:1;16;1");
  DataPlane with = plane(1, 8, 512);
  EXPECT_LT(sum(carried(star, with, {1.0}, {8})), 0.68);
  with.crossbar_speed = 2;
  EXPECT_GT(sum(carried(star, with, {1.0}, {8})), 0.85);
  with.crossbar_speed = 1;
  with.model = SwitchModel::OmniPath;
  const double slow = sum(carried(star, with, {1.0}, {8}));
  with.mport_speed = 3;
  with.central_speed = 4;
  EXPECT_GT(sum(carried(star, with, {1.0}, {8})), slow + 0.15);
}

/// When the packets of two hosts to a third one arrive, both sent in cycle 0.
std::vector<Cycle> two_to_one(const DataPlane& with, std::int32_t flits) {
  PacketSim sim = simulator(plant("xgft:1;4;1"), with);
  ArrivalLog log;
  sim.listen(&log);
  for (const std::uint32_t source : {0U, 1U}) sim.send({.source = source, .target = 3, .flits = flits}, 0);
  sim.run_until_idle(10'000);
  return log.at;
}

// Alone a packet takes as long through a fast crossbar as through a slow one: links have one flit a cycle.
TEST(Inside, AFastCrossbarDoesNotShortenAPacketAlone) {
  DataPlane with = plane(1, 16, 64);
  const Cycle first = two_to_one(with, 16)[0];
  with.crossbar_speed = 4;
  EXPECT_EQ(two_to_one(with, 16)[0], first);
  EXPECT_EQ(two_to_one(with, 16)[1], first + 16);
}

// The second of two packets of 4 flits finds the output idle again after 4 cycles; if a header that lost pays
// 10 cycles of arbitration, it comes 10 cycles after the first.
TEST(Inside, AHeaderThatLosesPaysForTheArbitrationAgain) {
  DataPlane with = plane(1, 4, 64);
  for (const auto allocation : {VirtualAllocation::Ready, VirtualAllocation::Blind}) {
    with.virtual_allocation = allocation;
    with.allocation_retry = 0;
    std::vector<Cycle> at = two_to_one(with, 4);
    EXPECT_EQ(at[1] - at[0], 4);
    with.allocation_retry = 10;
    at = two_to_one(with, 4);
    EXPECT_EQ(at[1] - at[0], 10);
  }
}

// Blind VA asks for outputs that are busy, and loses its turn, where another VL could have gone.
TEST(Inside, BlindAllocationCarriesLess) {
  const Plant star = plant("xgft:1;8;1");
  DataPlane with = plane(4, 8, 128);
  const std::vector<double> rates(4, 0.25);
  const std::vector<std::int32_t> message(4, 8);
  const double ready = sum(carried(star, with, rates, message));
  with.virtual_allocation = VirtualAllocation::Blind;
  const double blind = sum(carried(star, with, rates, message));
  with.allocation_retry = 16;
  const double paying = sum(carried(star, with, rates, message));
  EXPECT_LT(blind, ready - 0.02);
  EXPECT_LT(paying, blind - 0.02);
}

/// Of what host 3 gets, the part of its neighbour in the MPort; two more hosts send, each from an MPort of
/// its own.
double neighbours_part(OutputArbiter arbiter) {
  DataPlane with = plane(1, 8, 64);
  with.model = SwitchModel::OmniPath;
  with.output_arbiter = arbiter;
  PacketSim sim = simulator(plant("xgft:1;12;1"), with);
  ArrivalLog log;
  sim.listen(&log);
  for (const std::uint32_t source : {0U, 4U, 8U}) {
    for (Cycle at = 0; at < 8000; at += 8) sim.send({.source = source, .target = 3, .flits = 8}, at);
  }
  sim.run_until(8000);
  const double all = static_cast<double>(log.flits_of[0] + log.flits_of[4] + log.flits_of[8]);
  return static_cast<double>(log.flits_of[0]) / all;
}

// Two arbiters share nothing but the room of the output buffer: where that is short, the crossbar that is
// asked first in a cycle takes what the link gives back.
TEST(Inside, OneArbiterPerOutputTreatsAllThatFeedItAlike) {
  EXPECT_GT(neighbours_part(OutputArbiter::PerCrossbar), 0.9);
  EXPECT_NEAR(neighbours_part(OutputArbiter::One), 1.0 / 3, 0.03);
}

// Thesis, chapter 4: DTable keeps the shares that its table promises under saturation, whatever the sizes of
// messages; the table here says 50, 30 and 20 %.
TEST(Inside, DTableGivesItsSharesUnderContention) {
  const Plant star = plant("xgft:1;8;1");
  DataPlane with = plane(3, 16, 384);
  with.flit_bytes = 8;
  with.sharing = {.least = 0.25, .greatest = 2};
  with.sl_mtu[0] = 16;
  with.sl_mtu[1] = 32;
  with.sl_mtu[2] = 128;
  with.switch_scheduler.discipline = Discipline::DeficitTable;
  with.switch_scheduler.high = {{0, 20}, {1, 24}, {0, 20}, {2, 16}};
  with.host_scheduler = with.switch_scheduler;
  with.crossbar_speed = 4;
  const std::vector<double> got = carried(star, with, {0.6, 0.6, 0.6}, {16, 32, 128});
  const double all = sum(got);
  EXPECT_GT(all, 0.8);
  EXPECT_NEAR(got[0] / all, 0.5, 0.03);
  EXPECT_NEAR(got[1] / all, 0.3, 0.03);
  EXPECT_NEAR(got[2] / all, 0.2, 0.03);
}

/// Links of the first switch's trunks that carried anything, when every host sends to the next.
std::size_t links_in_use(TrunkRouting routing) {
  const Plant ring = plant("torus:4,hosts=1,links=4");
  DataPlane with = plane(1, 8, 64);
  with.trunk_routing = routing;
  PacketSim sim = simulator(ring, with);
  sim.add_traffic({.pattern = Pattern::Neighbour, .message_flits = 16, .rate = 0.9}, 3);
  sim.run_until(4000);
  std::size_t used = 0;
  for (const Port& port : sim.network().ports) {
    if (!port.host_side && !port.to_host && port.at_switch == 0 && sim.count(PortIndex{port.slot}).flits > 0)
      ++used;
  }
  return used;
}

// Thesis, chapters 4 and 5: links of a trunk carry different packets of one direction.
TEST(Inside, ATrunkIsUsedAsItsRoutingSays) {
  EXPECT_EQ(links_in_use(TrunkRouting::Programmed), 1U);
  EXPECT_EQ(links_in_use(TrunkRouting::PerMessage), 4U);
  EXPECT_EQ(links_in_use(TrunkRouting::Adaptive), 4U);
}

// Of a trunk's links those that are off are left out.
TEST(Inside, AClosedLinkOfATrunkIsNotChosen) {
  const Plant ring = plant("torus:4,hosts=1,links=4");
  for (const TrunkRouting routing : {TrunkRouting::PerMessage, TrunkRouting::Adaptive}) {
    DataPlane with = plane(1, 8, 64);
    with.trunk_routing = routing;
    PacketSim sim = simulator(ring, with);
    for (std::uint32_t link = 0; link < ring.fabric->links().size(); ++link) {
      const LinkEnd end = ring.fabric->link(LinkIndex{link}).a;  // hosts have port 1, the first trunk 2 to 5
      if (ring.fabric->node(end.node).type == NodeType::Switch && end.port.raw() % 4 != 1)
        sim.set_link(LinkIndex{link}, false);
    }
    sim.add_traffic({.pattern = Pattern::Neighbour, .message_flits = 8, .rate = 0.5, .stop = 2000}, 3);
    sim.run_until_idle(20'000);
    EXPECT_GT(sim.totals().injected, 0U);
    EXPECT_EQ(sim.totals().delivered, sim.totals().injected);
  }
}

// Two packets of SL 0 go to VL 0 and 1 in turn; SL 1 has VL 1, SL 2 VL 2.
TEST(Inside, AnSlWithTwoChannelsTakesThemInTurn) {
  const Plant star = plant("xgft:1;4;1");
  DataPlane with = plane(3, 8, 64);
  with.sl_turns = {{0, 1}, {}};
  with.count_lanes = true;
  PacketSim sim = simulator(star, with);
  sim.add_traffic({.sl = 0, .message_flits = 16, .rate = 0.4}, 3);
  sim.add_traffic({.sl = 1, .message_flits = 16, .rate = 0.2}, 4);
  sim.add_traffic({.sl = 2, .message_flits = 16, .rate = 0.2}, 5);
  sim.run_until(20'000);
  std::array<std::uint64_t, 3> flits{};
  for (const Port& port : sim.network().ports) {
    if (!port.to_host) continue;
    for (unsigned vl = 0; vl < 3; ++vl) flits[vl] += sim.lane_count(PortIndex{port.slot}, vl).packets;
  }
  EXPECT_NEAR(static_cast<double>(flits[0]) / static_cast<double>(flits[1]), 0.5, 0.05);
  EXPECT_NEAR(static_cast<double>(flits[0]) / static_cast<double>(flits[2]), 1, 0.1);
}

/// How many messages each host gets of `connections` at each, of the same rate.
std::vector<std::uint64_t> received(int connections, bool balanced) {
  PacketSim sim = simulator(plant("xgft:1;16;1"), plane(1, 8, 64));
  sim.add_traffic({.process = Process::Cbr,
                   .message_flits = 8,
                   .rate = 0.05,
                   .connections = connections,
                   .balanced = balanced},
                  3);
  sim.run_until(16'000);
  std::vector<std::uint64_t> each;
  for (const Port& port : sim.network().ports) {
    if (port.to_host) each.push_back(sim.count(PortIndex{port.slot}).packets);
  }
  return each;
}

TEST(Inside, BalancedConnectionsEndEverywhereAlike) {
  const std::vector<std::uint64_t> balanced = received(4, true);
  EXPECT_LE(*std::ranges::max_element(balanced) - *std::ranges::min_element(balanced), 10U);  // of 100
  const std::vector<std::uint64_t> random = received(4, false);
  EXPECT_GT(*std::ranges::max_element(random) - *std::ranges::min_element(random), 40U);
}

TEST(Inside, WhatMakesNoSwitchIsRefused) {
  const Plant star = plant("xgft:1;4;1");
  const auto error = [&](const DataPlane& with) {
    const auto network = build_network(star.fabric, star.programming, with);
    return network ? "no error" : network.error().message;
  };
  DataPlane with = plane(1, 8, 16);
  with.mport_speed = 3;
  EXPECT_THAT(error(with), testing::HasSubstr("mport_speed = 3: model \"infiniband\" has no such crossbar"));
  with = plane(1, 8, 16);
  with.crossbar_speed = 9;
  EXPECT_THAT(error(with), testing::HasSubstr("crossbar_speed = 9: must be 1 to 8"));
  with = plane(1, 8, 16);
  with.sl_mtu[3] = 17;
  EXPECT_THAT(error(with), testing::HasSubstr("too little for 1 packet(s) of 17 flits"));
  with = plane(1, 8, 16);
  with.sl_turns = {{0}, {1}};
  EXPECT_THAT(error(with), testing::HasSubstr("sc_to_vl: SL 1 has VL 1: there are 1 to choose from"));
}

}  // namespace
}  // namespace heddle::packet
