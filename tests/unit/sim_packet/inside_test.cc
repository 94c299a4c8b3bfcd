// What a switch is like inside: how fast its crossbars are, who decides what an output takes, what a lost
// arbitration costs, what is moved as one.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

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
}

}  // namespace
}  // namespace heddle::packet
