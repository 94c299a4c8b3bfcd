// What must hold on any fabric, with any traffic and arbiter: packets are conserved, none overtakes another
// of its (source, destination, SL), and everything arrives once sources are silent. Room and credits below
// zero trip the assertions of the pools.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <map>
#include <tuple>

#include "support/packet_planes.h"
#include "support/packet_plant.h"

namespace heddle::packet {
namespace {

using testing_support::any_plane;
using testing_support::plane;
using testing_support::plant;
using testing_support::simulator;

/// Tags are the order of sending.
struct OrderCheck : DeliveryListener {
  std::map<std::tuple<std::uint32_t, std::uint32_t, std::uint8_t>, std::uint64_t> last;
  bool in_order = true;
  std::uint64_t count = 0;
  void delivered(const Delivery& delivery) override {
    auto& seen = last[{delivery.source, delivery.target, delivery.sl}];
    in_order = in_order && delivery.tag > seen;
    seen = delivery.tag;
    ++count;
  }
};

bool conserved(const PacketSim& sim) {
  const Totals& t = sim.totals();
  return t.injected == t.delivered + t.broken + t.dropped() + sim.packets_in_flight() &&
         t.messages_generated == t.messages_delivered + t.messages_lost + sim.messages_in_flight();
}

void send_at_random(PacketSim& sim, Random& random, int messages, Cycle window, int vls) {
  std::vector<Cycle> times;
  for (int i = 0; i < messages; ++i)
    times.push_back(static_cast<Cycle>(random.below(static_cast<std::uint64_t>(window))));
  std::ranges::sort(times);
  for (int i = 0; i < messages; ++i) {
    const auto source = static_cast<std::uint32_t>(random.below(sim.host_count()));
    auto target = static_cast<std::uint32_t>(random.below(sim.host_count() - 1));
    if (target >= source) ++target;
    sim.send({.source = source,
              .target = target,
              .flits = static_cast<std::int32_t>(1 + random.below(50)),
              .sl = static_cast<std::uint8_t>(random.below(static_cast<std::uint64_t>(vls))),
              .salt = static_cast<std::uint32_t>(random()),
              .tag = static_cast<std::uint64_t>(i) + 1},
             times[static_cast<std::size_t>(i)]);
  }
}

testing_support::Plant any_fabric(DataPlane& with) {
  const auto text = *rc::gen::element<std::string>("xgft:1;9;1", "tree:k=2,n=3", "tree:k=4,n=2",
                                                   "mesh:3x3,hosts=2,links=2", "xgft:2;5,3;1,2");
  // Dimension order does not save hierarchical switches from deadlock, for all dimensions share a central
  // buffer.
  if (text.starts_with("mesh")) with.model = SwitchModel::InfiniBand;
  const auto speed = [] { return *rc::gen::element(1, 1, 2, 3, 8); };
  if (with.model == SwitchModel::InfiniBand) {
    with.crossbar_speed = speed();
  } else {
    with.mport_speed = speed();
    with.central_speed = speed();
  }
  return plant(text);
}

TEST(Conservation, OfPacketsAndOrderOnAnyFabric) {
  EXPECT_TRUE(rc::check("conserved, in order, all delivered", [] {
    DataPlane with = any_plane();
    const auto at = any_fabric(with);
    PacketSim sim = simulator(at, with);
    OrderCheck check;
    sim.listen(&check);
    Random random{*rc::gen::arbitrary<std::uint64_t>()};
    send_at_random(sim, random, 300, 500, with.vls);
    for (Cycle until = 50; until <= 2000; until += 50) {
      sim.run_until(until);
      RC_ASSERT(conserved(sim));
    }
    sim.run_until_idle(1'000'000);
    RC_ASSERT(conserved(sim));
    RC_ASSERT(sim.idle());
    RC_ASSERT(check.count == 300U);
    RC_ASSERT(check.in_order);
    RC_ASSERT(sim.packets_in_flight() == 0U);
  }));
}

TEST(Conservation, WhileLinksCloseAndOpen) {
  EXPECT_TRUE(rc::check("every packet is delivered or counted", [] {
    DataPlane with = any_plane();
    const auto at = any_fabric(with);
    with.closed_link = *rc::gen::element(packet::ClosedLink::Discard, packet::ClosedLink::Hold);
    with.head_lifetime = *rc::gen::inRange<Cycle>(100, 400);
    with.trunk_routing =
        *rc::gen::element(TrunkRouting::Programmed, TrunkRouting::PerMessage, TrunkRouting::Adaptive);
    if (*rc::gen::arbitrary<bool>()) with.sl_turns = {{0, static_cast<std::uint8_t>(with.vls - 1)}};
    PacketSim sim = simulator(at, with);
    Random random{*rc::gen::arbitrary<std::uint64_t>()};
    send_at_random(sim, random, 400, 1500, with.vls);
    const std::size_t links = at.fabric->links().size();
    for (int i = 0; i < 15; ++i) {
      const LinkIndex link{static_cast<std::uint32_t>(random.below(links))};
      sim.set_link(link, false);
      sim.run_until(sim.now() + 120);
      RC_ASSERT(conserved(sim));
      sim.set_link(link, true);
      sim.run_until(sim.now() + 120);
      RC_ASSERT(conserved(sim));
    }
    sim.run_until_idle(1'000'000);
    RC_ASSERT(sim.idle());
    RC_ASSERT(conserved(sim));
    RC_ASSERT(sim.packets_in_flight() == 0U);
    RC_ASSERT(sim.messages_in_flight() == 0U);
    // All room has come back.
    for (const Port& port : sim.network().ports) {
      if (port.room == nothing) continue;
      auto pools = sim.network().pools;
      pools.settle(port.room, sim.now());
      RC_ASSERT(pools.used(port.room) == 0);
    }
  }));
}

TEST(Conservation, SameSeedSameRun) {
  const auto at = plant("tree:k=4,n=2");
  const auto fingerprint = [&](std::uint64_t seed) {
    PacketSim sim = simulator(at, plane(2, 8, 32));
    sim.add_traffic({.sl = 0, .message_flits = 8, .rate = 0.3}, seed);
    sim.add_traffic({.sl = 1, .pattern = Pattern::Tornado, .message_flits = 3, .rate = 0.2}, seed + 1);
    sim.run_until(5000);
    const Totals& t = sim.totals();
    return std::tuple{t.injected,
                      t.delivered,
                      t.events,
                      t.flit_hops,
                      sim.measurements().by_sl[0].end_to_end.mean(),
                      sim.measurements().by_sl[1].network.max()};
  };
  EXPECT_EQ(fingerprint(1), fingerprint(1));
  EXPECT_NE(fingerprint(1), fingerprint(2));
}

TEST(Conservation, ARingUnderBubbleAndDateLineNeverStops) {
  const auto at = plant("torus:8,hosts=1,links=1");
  for (const RingRule rule : {RingRule::Bubble, RingRule::DateLine}) {
    DataPlane with = plane(2, 4, 8);
    with.ring_rule = rule;
    with.sl_to_vl.fill(0);
    PacketSim sim = simulator(at, with);
    sim.add_traffic({.pattern = Pattern::Tornado, .message_flits = 4, .rate = 1, .stop = 3000}, 5);
    sim.run_until_idle(100'000);
    EXPECT_TRUE(sim.idle());
    EXPECT_EQ(sim.packets_in_flight(), 0U);
    EXPECT_GT(sim.totals().delivered, 1000U);
  }
}

// A VL that may fill a buffer but for less than a packet leaves none for those beyond the date line.
TEST(Conservation, ADateLineNeedsRoomForAPacketInEachVl) {
  const auto at = plant("torus:8,hosts=1,links=1");
  for (const double least : {0.5, 0.1}) {  // of 8 flits
    DataPlane with = plane(2, 4, 8);
    with.ring_rule = RingRule::DateLine;
    with.sharing = {.least = least, .greatest = 4};
    with.sl_to_vl.fill(0);
    PacketSim sim = simulator(at, with);
    sim.add_traffic({.pattern = Pattern::Tornado, .message_flits = 4, .rate = 1, .stop = 3000}, 5);
    sim.run_until_idle(100'000);
    EXPECT_EQ(sim.packets_in_flight() == 0, least == 0.5) << least;
  }
}

TEST(Conservation, WithoutARuleARingDeadlocks) {
  const auto at = plant("torus:8,hosts=1,links=1");
  DataPlane with = plane(1, 4, 4);
  PacketSim sim = simulator(at, with);
  sim.add_traffic({.pattern = Pattern::Tornado, .message_flits = 4, .rate = 1, .stop = 3000}, 5);
  sim.run_until_idle(100'000);
  EXPECT_GT(sim.packets_in_flight(), 0U);
}

}  // namespace
}  // namespace heddle::packet
