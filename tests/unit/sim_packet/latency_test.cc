// Without contention a message takes the sum of its stages, which is done by hand here.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/packet_plant.h"

namespace heddle::packet {
namespace {

using testing_support::plane;
using testing_support::plant;
using testing_support::simulator;

struct LatencyLog : DeliveryListener {
  std::vector<Delivery> all;
  void delivered(const Delivery& delivery) override { all.push_back(delivery); }
};

/// Cycles from generation to the last flit at the target, alone in the fabric.
Cycle alone(const testing_support::Plant& at, const DataPlane& with, std::uint32_t source,
            std::uint32_t target, std::int32_t flits) {
  PacketSim sim = simulator(at, with);
  LatencyLog log;
  sim.listen(&log);
  sim.send({.source = source, .target = target, .flits = flits}, 7);
  sim.run_until_idle(100000);
  EXPECT_EQ(log.all.size(), 1U);
  EXPECT_EQ(sim.packets_in_flight(), 0U);
  return log.all.empty() ? -1 : log.all[0].at - log.all[0].created;
}

TEST(Latency, OfOneInfiniBandSwitchIsTheSumOfItsStages) {
  DataPlane with = plane(1, 16, 64);
  with.delays = {.injection = 3,
                 .input = 5,
                 .routing = 7,
                 .allocation = 11,
                 .crossbar = 13,
                 .output = 17,
                 .flight = 19,
                 .credit = 1};
  const auto star = plant("xgft:1;6;1");
  EXPECT_EQ(alone(star, with, 0, 1, 1), 3 + 19 + (5 + 7 + 11 + 13 + 17) + 19);
  EXPECT_EQ(alone(star, with, 0, 5, 16), 3 + 19 + (5 + 7 + 11 + 13 + 17) + 19 + 15);
}

TEST(Latency, OfThreeInfiniBandSwitches) {
  DataPlane with = plane(1, 16, 64);
  with.delays = {.injection = 0,
                 .input = 5,
                 .routing = 7,
                 .allocation = 11,
                 .crossbar = 13,
                 .output = 17,
                 .flight = 19,
                 .credit = 1};
  const auto tree = plant("tree:k=2,n=2");
  EXPECT_EQ(alone(tree, with, 0, 3, 16), 4 * 19 + 3 * 53 + 15);
}

TEST(Latency, OfAMessageOfSeveralPackets) {
  const DataPlane with = plane(1, 16, 64);
  const auto star = plant("xgft:1;6;1");
  EXPECT_EQ(alone(star, with, 0, 1, 40), alone(star, with, 0, 1, 1) + 39);
}

// facts/simulator.md 2: same MPort INJ + RT + 2 SB + AT + X + FLY, across INJ + RT + 2 SB + 2 AT + 2 X + FLY
// = 160.
TEST(Latency, OfTheOmniPathLikeSwitchWithTheThesisDelays) {
  DataPlane with = plane(1, 16, 1024);
  with.model = SwitchModel::OmniPath;
  with.cycle = Picoseconds{625};
  with.flit_bytes = 8;
  with.delays = omni_path_delays();
  const auto star = plant("xgft:1;48;1");
  const Cycle first_link = 8;
  EXPECT_EQ(alone(star, with, 0, 3, 1), first_link + 32 + 2 * 50 + 8 + 2 + 8);
  EXPECT_EQ(alone(star, with, 0, 4, 1), first_link + 160);
  EXPECT_EQ(alone(star, with, 47, 0, 16), first_link + 160 + 15);
}

}  // namespace
}  // namespace heddle::packet
