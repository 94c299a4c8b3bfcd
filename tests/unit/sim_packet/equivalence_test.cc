// Packets at once and flit by flit come to the same: every delivery in the same cycle, every port's flits and
// stall time, every loss, on random fabrics, delays, buffers, schedulers, traffic and link closings.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include "support/flit_model.h"
#include "support/packet_plant.h"

namespace heddle::packet {
namespace {

using testing_support::FlitModel;
using testing_support::plane;
using testing_support::Plant;
using testing_support::plant;

struct Log : DeliveryListener {
  std::vector<FlitModel::Result> all;
  void delivered(const Delivery& delivery) override { all.push_back({delivery.at, delivery.tag}); }
};

/// A chain of three switches whose links have different rates.
Plant mixed_rates() {
  FabricBuilder builder;
  std::vector<NodeIndex> nodes;
  for (std::uint64_t i = 0; i < 9; ++i) {
    Node node;
    node.guid = NodeGuid{i + 1};
    node.type = i < 3 ? NodeType::Switch : NodeType::ChannelAdapter;
    node.port_count = i < 3 ? 4 : 1;
    nodes.push_back(*builder.add_node(node));
  }
  const auto end = [&](std::size_t node, unsigned port) {
    return LinkEnd{nodes[node], PortNum{static_cast<std::uint8_t>(port)}};
  };
  EXPECT_TRUE(builder.add_link(end(0, 1), end(1, 1), LinkWidth::X4, LinkSpeed::Ddr));
  EXPECT_TRUE(builder.add_link(end(1, 2), end(2, 1), LinkWidth::X4, LinkSpeed::Qdr));
  for (unsigned i = 0; i < 6; ++i) {
    const LinkSpeed speed = i % 3 == 0 ? LinkSpeed::Sdr : i % 3 == 1 ? LinkSpeed::Ddr : LinkSpeed::Qdr;
    EXPECT_TRUE(builder.add_link(end(i / 2, 3 + i % 2), end(3 + i, 1), LinkWidth::X4, speed));
  }
  Plant made;
  made.fabric = *assign_lids(*builder.build());
  const auto graph = *routing::SwitchGraph::make(*made.fabric);
  made.programming.forwarding = routing::route_minhop(graph, routing::LinkSet::all(*made.fabric));
  return made;
}

void draw_allocation(DataPlane& with) {
  with.virtual_allocation = *rc::gen::element(VirtualAllocation::Ready, VirtualAllocation::Blind);
  with.allocation_retry = *rc::gen::element<Cycle>(0, 0, 1, 2, 7, 16);
  with.output_arbiter = *rc::gen::element(OutputArbiter::PerCrossbar, OutputArbiter::One);
}

void draw_speeds(DataPlane& with) {
  const auto speed = [] { return *rc::gen::element(1, 1, 2, 3, 4, 8); };
  if (with.model == SwitchModel::InfiniBand) {
    with.crossbar_speed = speed();
  } else {
    with.mport_speed = speed();
    with.central_speed = speed();
  }
}

DataPlane plane_of_any_size() {
  const int vls = *rc::gen::inRange(1, 5);
  const std::int32_t largest = *rc::gen::inRange(1, 12);
  DataPlane with = plane(vls, largest, largest * *rc::gen::inRange(1, 4) + *rc::gen::inRange(0, 4));
  with.model = *rc::gen::element(SwitchModel::InfiniBand, SwitchModel::OmniPath);
  with.delays = {.injection = *rc::gen::inRange(0, 3),
                 .input = *rc::gen::inRange(0, 5),
                 .routing = *rc::gen::inRange(0, 5),
                 .allocation = *rc::gen::inRange(1, 4),
                 .crossbar = *rc::gen::inRange(1, 4),
                 .output = *rc::gen::inRange(0, 4),
                 .flight = *rc::gen::inRange(1, 9),
                 .credit = *rc::gen::inRange(1, 9)};
  with.allocation_passes = *rc::gen::inRange(1, 4);
  with.input_lanes = *rc::gen::element(1, 1, 2, 3);
  draw_speeds(with);
  draw_allocation(with);
  if (*rc::gen::element(false, false, true)) with.head_lifetime = *rc::gen::inRange<Cycle>(1, 120);
  with.closed_link = *rc::gen::element(packet::ClosedLink::Discard, packet::ClosedLink::Hold);
  with.output_lanes = *rc::gen::inRange(1, 4);
  if (*rc::gen::arbitrary<bool>()) with.sharing = {.least = 0.25, .greatest = 2.5};
  with.switch_scheduler.discipline = *rc::gen::element(Discipline::RoundRobin, Discipline::InfiniBand,
                                                       Discipline::SimpleTable, Discipline::DeficitTable);
  for (int vl = 0; vl < vls; ++vl) {
    with.switch_scheduler.high.push_back(
        {static_cast<std::uint8_t>(vl), *rc::gen::inRange<std::uint32_t>(1, 9)});
    with.switch_scheduler.low.push_back(
        {static_cast<std::uint8_t>(vl), *rc::gen::inRange<std::uint32_t>(1, 9)});
  }
  return with;
}

Plant any_fabric() {
  const auto text =
      *rc::gen::element<std::string>("xgft:1;9;1", "tree:k=2,n=3", "tree:k=3,n=2", "mesh:3x2,hosts=2,links=2",
                                     "torus:5,hosts=2,links=1", "mixed");
  return text == "mixed" ? mixed_rates() : plant(text);
}

class Pair {
 public:
  Pair(const Plant& at, const DataPlane& with)
      : fast_{*PacketSim::make(*build_network(at.fabric, at.programming, with))}, plain_{fast_.network()} {
    fast_.listen(&log_);
  }

  void send_at_random(Random& random, int messages, Cycle window, int sls, std::int32_t largest) {
    std::vector<Cycle> times;
    for (int i = 0; i < messages; ++i)
      times.push_back(static_cast<Cycle>(random.below(static_cast<std::uint64_t>(window))));
    std::ranges::sort(times);
    for (std::size_t i = 0; i < times.size(); ++i) {
      Send what;
      what.source = static_cast<std::uint32_t>(random.below(fast_.host_count()));
      what.target = static_cast<std::uint32_t>(random.below(fast_.host_count() - 1));
      if (what.target >= what.source) ++what.target;
      what.flits = static_cast<std::int32_t>(1 + random.below(static_cast<std::uint64_t>(largest)));
      what.sl = static_cast<std::uint8_t>(random.below(static_cast<std::uint64_t>(sls)));
      what.tag = i;
      send(what, times[i]);
    }
  }
  void send(const Send& what, Cycle at) {
    fast_.send(what, at);
    plain_.send(what, at);
  }
  void run_until(Cycle end) {
    fast_.run_until(end);
    plain_.run_until(end);
  }
  void set_link(LinkIndex link, bool open) {
    fast_.set_link(link, open);
    plain_.set_link(link, open);
  }
  void compare() {
    auto plain = plain_.delivered();
    std::ranges::sort(log_.all);
    std::ranges::sort(plain);
    for (std::size_t i = 0; i < std::min(plain.size(), log_.all.size()); ++i) {
      RC_ASSERT(std::tuple(i, log_.all[i].at, log_.all[i].tag) == std::tuple(i, plain[i].at, plain[i].tag));
    }
    RC_ASSERT(log_.all.size() == plain.size());
    RC_ASSERT(fast_.totals().lost == plain_.lost);
    RC_ASSERT(fast_.totals().broken == plain_.broken);
    RC_ASSERT(fast_.totals().discarded == plain_.discarded);
    const auto& ports = fast_.network().ports;
    for (std::uint32_t id = 0; id < ports.size(); ++id) {
      RC_ASSERT(fast_.count(PortIndex{ports[id].slot}).stalled == plain_.stalled(id));
    }
    RC_ASSERT(!plain_.gap);
    RC_ASSERT(!plain_.overfull);
  }
  [[nodiscard]] const std::vector<FlitModel::Result>& by_packets() const { return log_.all; }
  [[nodiscard]] const std::vector<FlitModel::Result>& by_flits() const { return plain_.delivered(); }
  [[nodiscard]] const PacketSim& fast() const { return fast_; }

 private:
  PacketSim fast_;
  FlitModel plain_;
  Log log_;
};

TEST(Equivalence, OfPacketsAndFlits) {
  EXPECT_TRUE(rc::check("same deliveries in the same cycles", [] {
    const DataPlane with = plane_of_any_size();
    Pair pair{any_fabric(), with};
    Random random{*rc::gen::arbitrary<std::uint64_t>()};
    pair.send_at_random(random, 150, *rc::gen::element<Cycle>(50, 400, 2000), with.vls, 3 * with.max_packet);
    pair.run_until(2500);
    pair.compare();
  }));
}

/// A packet from the host beside the target takes all but one flit of room in the same cycle: too little for
/// the input whose turn it is at the central crossbar, enough for the next one.
TEST(Equivalence, WhenTwoCrossbarsFillOneBuffer) {
  DataPlane with = plane(1, 2, 5);
  with.model = SwitchModel::OmniPath;
  with.delays = {.injection = 0,
                 .input = 0,
                 .routing = 0,
                 .allocation = 1,
                 .crossbar = 2,
                 .output = 0,
                 .flight = 3,
                 .credit = 1};
  Pair pair{plant("mesh:3x2,hosts=2,links=2"), with};
  pair.send({.source = 5, .target = 10, .flits = 4, .tag = 0}, 0);
  pair.send({.source = 2, .target = 10, .flits = 1, .tag = 1}, 6);
  pair.send({.source = 8, .target = 10, .flits = 4, .tag = 2}, 9);
  pair.send({.source = 11, .target = 10, .flits = 1, .tag = 3}, 27);
  pair.run_until(100);
  ASSERT_EQ(pair.by_packets().size(), 4U);
  EXPECT_EQ(pair.by_packets(), pair.by_flits());
  EXPECT_EQ(pair.by_packets()[2], (FlitModel::Result{37, 1}));
}

/// So many that the simulator looks ahead among them.
TEST(Equivalence, WhereACycleHasHundredsOfEvents) {
  for (const SwitchModel model : {SwitchModel::InfiniBand, SwitchModel::OmniPath}) {
    DataPlane with = plane(2, 2, 8);
    with.model = model;
    Pair pair{plant("tree:k=8,n=2"), with};
    Random random{1};
    pair.send_at_random(random, 4000, 100, 2, 4);
    pair.run_until(1000);
    EXPECT_GT(pair.fast().totals().events, 100U * 300);
    std::vector<FlitModel::Result> packets = pair.by_packets();
    std::vector<FlitModel::Result> flits = pair.by_flits();
    std::ranges::sort(packets);
    std::ranges::sort(flits);
    EXPECT_EQ(packets.size(), 4000U);
    EXPECT_TRUE(packets == flits);
  }
}

TEST(Equivalence, WithRingRules) {
  EXPECT_TRUE(rc::check("bubble and date line", [] {
    DataPlane with = plane_of_any_size();
    with.model = SwitchModel::InfiniBand;
    with.mport_speed = with.central_speed = 1;
    draw_speeds(with);
    with.vls = *rc::gen::element(2, 4);
    with.ring_rule = *rc::gen::element(RingRule::Bubble, RingRule::DateLine);
    with.input_flits = with.output_flits = with.host_flits = with.vls * 2 * with.max_packet;
    with.sharing = {};
    with.head_lifetime = 0;
    with.switch_scheduler = {};
    for (std::size_t sl = 0; sl < 32; ++sl)
      with.sl_to_vl[sl] = static_cast<std::uint8_t>(sl % (with.vls / 2U));
    Pair pair{plant("torus:4x3,hosts=1,links=1"), with};
    Random random{*rc::gen::arbitrary<std::uint64_t>()};
    pair.send_at_random(random, 200, 100, with.vls, 2 * with.max_packet);
    pair.run_until(4000);
    pair.compare();
    RC_ASSERT(pair.fast().packets_in_flight() == 0U);
  }));
}

TEST(Equivalence, WhileLinksCloseUnderPackets) {
  EXPECT_TRUE(rc::check("same losses", [] {
    const DataPlane with = plane_of_any_size();
    const Plant at = any_fabric();
    Pair pair{at, with};
    Random random{*rc::gen::arbitrary<std::uint64_t>()};
    pair.send_at_random(random, 200, 1500, with.vls, 3 * with.max_packet);
    Cycle now = 0;
    for (int i = 0; i < 6; ++i) {
      const LinkIndex link{static_cast<std::uint32_t>(random.below(at.fabric->links().size()))};
      pair.run_until(now += 60 + static_cast<Cycle>(random.below(40)));
      pair.set_link(link, false);
      pair.run_until(now += 100 + static_cast<Cycle>(random.below(40)));
      pair.set_link(link, true);
    }
    pair.run_until(4000);
    pair.compare();
  }));
}

}  // namespace
}  // namespace heddle::packet
