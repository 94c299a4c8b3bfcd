// What a packet meets that comes to a link that is closed, or waits too long: by hand, to the cycle.
#include <gtest/gtest.h>

#include "support/packet_plant.h"

namespace heddle::packet {
namespace {

using testing_support::plane;
using testing_support::Plant;
using testing_support::plant;

// Every stage takes a cycle: a header that leaves its host in cycle 0 is at the switch in 1, stored there in
// 2, routed in 3, through allocation in 4 and the crossbar in 5, in the output buffer in 6, at its host in 7.
constexpr Cycle at_output = 6;

class ClosedLink : public testing::Test {
 protected:
  PacketSim make(const DataPlane& with) {
    return *PacketSim::make(*build_network(at_.fabric, at_.programming, with));
  }
  [[nodiscard]] PortIndex slot_of(const PacketSim& sim, std::uint32_t host) const {
    return sim.network().hosts[host].slot;
  }
  [[nodiscard]] LinkIndex link_of(const PacketSim& sim, std::uint32_t host) const {
    return at_.fabric->port(slot_of(sim, host)).link;
  }
  /// Of the switch, towards the host.
  [[nodiscard]] PortCount towards(const PacketSim& sim, std::uint32_t host) const {
    const heddle::Port& port = at_.fabric->port(slot_of(sim, host));
    return sim.count(at_.fabric->port_index(*at_.fabric->peer({port.node, port.num})));
  }

  Plant at_ = plant("xgft:1;3;1");
};

TEST_F(ClosedLink, APacketThatMeetsItIsDiscardedAtOnce) {
  PacketSim sim = make(plane(1, 4, 16));
  sim.send({.source = 0, .target = 1}, 0);
  sim.set_link(link_of(sim, 1), false);
  sim.run_until(at_output);
  EXPECT_EQ(sim.totals().discarded, 0U);
  sim.run_until(at_output + 1);
  EXPECT_EQ(sim.totals().discarded, 1U);
  EXPECT_EQ(towards(sim, 1).discards, 1U);
  EXPECT_EQ(towards(sim, 1).inactive, 1U);
  EXPECT_EQ(sim.totals().messages_lost, 1U);
}

TEST_F(ClosedLink, APacketThatIsHeldGoesOnWhenTheLinkIsBack) {
  DataPlane with = plane(1, 4, 16);
  with.closed_link = packet::ClosedLink::Hold;
  PacketSim sim = make(with);
  sim.set_link(link_of(sim, 1), false);
  sim.send({.source = 0, .target = 1}, 0);
  sim.run_until(100);
  EXPECT_EQ(sim.packets_in_flight(), 1U);
  sim.set_link(link_of(sim, 1), true);
  sim.run_until(101);
  EXPECT_EQ(sim.totals().delivered, 0U);
  sim.run_until(102);
  EXPECT_EQ(sim.totals().delivered, 1U);
  EXPECT_EQ(towards(sim, 1).discards, 0U);
}

TEST_F(ClosedLink, APacketThatIsHeldLivesAsLongAsTheHeadOfAQueueMay) {
  DataPlane with = plane(1, 4, 16);
  with.closed_link = packet::ClosedLink::Hold;
  with.head_lifetime = 50;
  PacketSim sim = make(with);
  sim.set_link(link_of(sim, 1), false);
  for (int i = 0; i < 2; ++i) sim.send({.source = 0, .target = 1}, 0);
  sim.run_until(at_output + 50);
  EXPECT_EQ(sim.totals().discarded, 0U);
  sim.run_until(at_output + 51);
  EXPECT_EQ(sim.totals().discarded, 1U);
  sim.run_until(at_output + 100);  // the second is at the head since the first is gone
  EXPECT_EQ(sim.totals().discarded, 1U);
  sim.run_until(at_output + 101);
  EXPECT_EQ(sim.totals().discarded, 2U);
  EXPECT_EQ(towards(sim, 1).inactive, 2U);
}

TEST_F(ClosedLink, WhatNoTableServesAgesToo) {
  DataPlane with = plane(2, 4, 16);
  with.head_lifetime = 30;
  with.switch_scheduler = {.discipline = Discipline::InfiniBand, .high = {{0, 1}}};
  PacketSim sim = make(with);
  sim.send({.source = 0, .target = 1, .sl = 1}, 0);
  sim.run_until(at_output + 31);
  EXPECT_EQ(sim.totals().discarded, 1U);
  EXPECT_EQ(towards(sim, 1).discards, 1U);
  EXPECT_EQ(towards(sim, 1).inactive, 0U);
  EXPECT_EQ(towards(sim, 1).stalled, 30U);
}

// A packet of 10 flits is on the link from cycle 6 on.
TEST_F(ClosedLink, APacketUnderWayIsBrokenAndOneThatHasNotArrivedIsLost) {
  DataPlane with = plane(1, 10, 20);
  with.delays.flight = 4;
  const Cycle begins = at_output + 3;  // on the link to the target
  struct Case {
    Cycle closes;
    std::uint64_t lost, broken, delivered;
  };
  for (const Case& c : {Case{begins + 3, 1, 0, 0}, Case{begins + 6, 0, 1, 0}, Case{begins + 20, 0, 0, 1}}) {
    PacketSim sim = make(with);
    sim.send({.source = 0, .target = 1, .flits = 10}, 0);
    sim.run_until(c.closes);
    sim.set_link(link_of(sim, 1), false);
    sim.run_until_idle(1000);
    EXPECT_EQ(sim.totals().lost, c.lost) << c.closes;
    EXPECT_EQ(sim.totals().broken, c.broken) << c.closes;
    EXPECT_EQ(sim.totals().delivered, c.delivered) << c.closes;
    EXPECT_EQ(towards(sim, 1).broken, c.lost + c.broken) << c.closes;
  }
}

TEST_F(ClosedLink, AHostKeepsWhatItCannotSend) {
  PacketSim sim = make(plane(1, 4, 16));
  sim.set_link(link_of(sim, 0), false);
  sim.send({.source = 0, .target = 1}, 0);
  sim.run_until(500);
  EXPECT_EQ(sim.totals().injected, 0U);
  EXPECT_EQ(sim.messages_in_flight(), 1U);
  sim.set_link(link_of(sim, 0), true);
  sim.run_until(600);
  EXPECT_EQ(sim.totals().delivered, 1U);
}

}  // namespace
}  // namespace heddle::packet
