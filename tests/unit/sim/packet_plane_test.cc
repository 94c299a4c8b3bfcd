#include "sim/packet_plane.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "fabric/generators.h"
#include "mad/header.h"
#include "sim/bring_up.h"
#include "sim/flow/fabric_view.h"
#include "sim/flow/path_migration.h"
#include "sim/scenario_hosts.h"
#include "sim/simulated_fabric.h"

namespace heddle::sim {
namespace {

using testing::HasSubstr;
using namespace std::chrono_literals;

constexpr double gbit = 1e9;
constexpr const char* one_switch = "xgft:1;4;1,speed=EDR";
constexpr std::uint64_t packet = 4096;

constexpr Picoseconds us(std::int64_t n) { return Picoseconds{n * 1'000'000}; }

/// Tables that a test may give in place of the programmed ones.
class OwnTables final : public FabricView {
 public:
  using FabricView::FabricView;
  [[nodiscard]] qos::VlArbitration arbitration(PortIndex port) const override {
    return own ? *own : FabricView::arbitration(port);
  }
  [[nodiscard]] PortNum output(NodeIndex node, Lid lid) const override {
    return astray ? astray_port : FabricView::output(node, lid);
  }
  std::optional<qos::VlArbitration> own;
  bool astray = false;
  PortNum astray_port;
};

enum class Managed { Yes, No };

struct Bench {
  explicit Bench(const char* spec, const PacketPlaneOptions& options = {}, Managed managed = Managed::Yes)
      : fabric{*generate(spec)}, hosts{host_ports(fabric.description())} {
    auto made = PacketPlane::make(view, options);
    EXPECT_TRUE(made) << made.error().message;
    plane = std::move(*made);
    fabric.set_change_listener(plane.get());
    fabric.set_counter_source(plane.get());
    if (managed == Managed::Yes) bring_up(fabric);
  }
  ~Bench() {
    fabric.set_change_listener(nullptr);
    fabric.set_counter_source(nullptr);
  }
  Bench(const Bench&) = delete;
  Bench& operator=(const Bench&) = delete;

  [[nodiscard]] PortIndex leaf_port(std::size_t host) const {
    const Port& port = fabric.description().port(hosts[host]);
    return fabric.description().port_index(*fabric.description().peer({port.node, port.num}));
  }
  [[nodiscard]] LinkIndex link(std::size_t host) const { return fabric.description().port(hosts[host]).link; }
  TrafficId add(std::size_t from, std::size_t to, double demand, std::uint8_t sl = 0,
                Picoseconds at = Picoseconds{0}) {
    return *plane->add({.from = hosts[from], .to = hosts[to], .sl = Sl{sl}, .demand = BitRate{demand}}, at);
  }
  [[nodiscard]] std::uint64_t bytes(PortIndex port, Picoseconds at) {
    return fabric.counters(port, at).xmit_data * 4;
  }

  SimulatedFabric fabric;
  OwnTables view{fabric};
  std::unique_ptr<PacketPlane> plane;
  std::vector<PortIndex> hosts;
};

constexpr double all = 1e15;  // more than any link carries

// 10 Gbit/s for 2 ms are 2.5 MB: 610.35 packets of 4,096 bytes, of which the last may be on its way.
TEST(PacketPlane, CountsWhatAFlowMovesAtBothEnds) {
  Bench b{one_switch};
  const TrafficId flow = b.add(0, 1, 10 * gbit);
  const PortTotals sent = b.fabric.counters(b.hosts[0], us(2000));
  EXPECT_NEAR(static_cast<double>(sent.xmit_packets), 610.35, 1);
  EXPECT_EQ(sent.xmit_data * 4, sent.xmit_packets * packet);
  EXPECT_EQ(sent.xmit_wait, 0U);
  EXPECT_EQ(b.fabric.counters(b.leaf_port(0), us(2000)).rcv_packets, sent.xmit_packets);
  const PortTotals received = b.fabric.counters(b.hosts[1], us(2000));
  EXPECT_GE(received.rcv_packets + 1, sent.xmit_packets);
  EXPECT_EQ(received.xmit_packets, 0U);
  EXPECT_EQ(b.plane->read_vls(b.hosts[0], us(2000)).xmit_packets[0], sent.xmit_packets);
  EXPECT_NEAR(b.plane->rate(flow, us(2000)).value(), 10 * gbit, packet * 8 * 1000);
}

// Two hosts want all of one link: half each, and each waits for credits half of the time.
TEST(PacketPlane, CongestionShowsAsWaitingWhereItHoldsBack) {
  Bench b{one_switch};
  const TrafficId first = b.add(0, 2, all);
  const TrafficId second = b.add(1, 2, all);
  const double link = 100 * gbit;
  EXPECT_NEAR(b.plane->rate(first, us(2000)).value(), link / 2, link / 100);
  EXPECT_NEAR(b.plane->rate(second, us(2000)).value(), link / 2, link / 100);
  const double ticks = 2000.0 * 250;
  EXPECT_NEAR(static_cast<double>(b.fabric.counters(b.hosts[0], us(2000)).xmit_wait), ticks / 2, ticks / 50);
  EXPECT_NEAR(static_cast<double>(b.plane->read_vls(b.hosts[0], us(2000)).xmit_wait[0]), ticks / 2,
              ticks / 50);
  EXPECT_EQ(b.fabric.counters(b.leaf_port(2), us(2000)).xmit_wait, 0U);
  // As much as a window of 16 packets leaves to stand at a host.
  EXPECT_GT(b.plane->queue_depth(b.hosts[0], Vl{0}, us(2000)), 64U);
  EXPECT_GT(b.plane->queue_delay(b.hosts[0], Vl{0}, us(2000)), us(0));
  const FlowFigures figures = b.plane->figures(us(2000));
  EXPECT_NEAR(figures.delivered.value(), link, link / 50);
  EXPECT_EQ(figures.lost_bytes, 0U);
}

TEST(PacketPlane, VirtualLanesShareALinkByTheProgrammedTables) {
  Bench b{one_switch};
  b.view.own = qos::VlArbitration{{}, {{Vl{0}, 192}, {Vl{1}, 64}}, qos::HighLimit{0}};
  const TrafficId much = b.add(0, 1, all, 0);
  const TrafficId little = b.add(0, 1, all, 1);
  EXPECT_NEAR(b.plane->rate(much, us(3000)).value(), 75 * gbit, gbit);
  EXPECT_NEAR(b.plane->rate(little, us(3000)).value(), 25 * gbit, gbit);
}

TEST(PacketPlane, PacketsFollowTheTablesThatMadsProgram) {
  Bench b{"xgft:2;2,2;1,2"};  // two leaves, two tops
  b.add(0, 3, 10 * gbit);
  const Fabric& fabric = b.fabric.description();
  const NodeIndex leaf = fabric.port(b.leaf_port(0)).node;
  const Lid target = b.fabric.port_info(b.hosts[3]).lid;
  const PortNum before = b.fabric.forwarding_table(leaf)[target.raw()];
  const PortIndex old_way = fabric.port_index(leaf, before);
  const PortIndex other_way = fabric.port_index(leaf, before == PortNum{3} ? PortNum{4} : PortNum{3});
  const std::uint64_t first = b.bytes(old_way, us(1000));
  EXPECT_GT(first, 1'200'000U);
  EXPECT_EQ(b.bytes(other_way, us(1000)), 0U);

  mad::LftBlock block{};
  const auto table = b.fabric.forwarding_table(leaf);
  for (std::size_t i = 0; i < block.ports.size() && i < table.size(); ++i) block.ports[i] = table[i];
  block.ports[target.raw()] = fabric.port(other_way).num;
  // As an SM writes it, to the agent of the switch.
  mad::Bytes smp{};
  mad::Header header;
  header.method = mad::Method::Set;
  header.attribute = static_cast<std::uint16_t>(mad::SmAttr::LinearForwardingTable);
  mad::encode(block, mad::smp_data(smp));
  mad::write_header(header, smp);
  ASSERT_TRUE(b.fabric.ask(fabric.node(leaf).first_port, smp, us(1000)));
  EXPECT_LE(b.bytes(old_way, us(2000)), first + packet);
  EXPECT_NEAR(static_cast<double>(b.bytes(other_way, us(2000))), static_cast<double>(first), 2.0 * packet);
}

TEST(PacketPlane, ALinkThatGoesOffDiscardsWhatIsRoutedIntoIt) {
  Bench b{one_switch};
  const TrafficId flow = b.add(0, 1, 10 * gbit);
  b.fabric.advance(us(1000));
  b.fabric.cut(b.link(1), us(1000));
  const PortTotals at_leaf = b.fabric.counters(b.leaf_port(1), us(3000));
  EXPECT_NEAR(static_cast<double>(at_leaf.xmit_discards), 610.35, 3);
  EXPECT_EQ(b.plane->read(b.leaf_port(1), us(3000)).inactive_discards, at_leaf.xmit_discards);
  EXPECT_EQ(b.plane->rate(flow, us(3000)).value(), 0);
  const FlowFigures figures = b.plane->figures(us(3000));
  EXPECT_EQ(figures.into_off_link, 1U);
  EXPECT_NEAR(static_cast<double>(figures.lost_bytes), 2'500'000, 3.0 * packet);
  b.fabric.advance(us(3000));
  b.fabric.mend(b.link(1), us(3000));
  bring_up(b.fabric);
  EXPECT_NEAR(b.plane->rate(flow, us(6000)).value(), 10 * gbit, packet * 8 * 1000);
  const packet::Totals& t = b.plane->simulator().totals();
  EXPECT_EQ(t.injected, t.delivered + t.broken + t.dropped() + b.plane->simulator().packets_in_flight());
}

TEST(PacketPlane, AWrongTableLosesPackets) {
  Bench b{one_switch};
  const TrafficId flow = b.add(0, 1, 10 * gbit);
  b.view.astray = true;
  b.view.astray_port = b.fabric.description().port(b.leaf_port(2)).num;
  b.plane->changed({Change::Kind::Lid, no_node, b.hosts[1]}, us(0));
  EXPECT_EQ(b.plane->rate(flow, us(2000)).value(), 0);
  EXPECT_NEAR(static_cast<double>(b.plane->simulator().totals().unroutable), 610.35, 2);
  EXPECT_GT(b.fabric.counters(b.hosts[2], us(2000)).rcv_packets, 600U);
}

TEST(PacketPlane, TrafficWaitsForASubnetManager) {
  Bench b{one_switch, {}, Managed::No};
  const TrafficId flow = b.add(0, 1, 10 * gbit);
  EXPECT_EQ(b.plane->rate(flow, us(1000)).value(), 0);
  EXPECT_EQ(b.fabric.counters(b.hosts[0], us(1000)).xmit_packets, 0U);
  b.fabric.advance(us(1000));
  bring_up(b.fabric);
  EXPECT_NEAR(b.plane->rate(flow, us(4000)).value(), 10 * gbit, packet * 8 * 1000);
}

TEST(PacketPlane, DemandsChangeAndFlowsGo) {
  Bench b{one_switch};
  const TrafficId flow = b.add(0, 1, 10 * gbit);
  b.plane->set_demand(flow, BitRate{40 * gbit}, us(1000));
  EXPECT_NEAR(b.plane->rate(flow, us(3000)).value(), 40 * gbit, packet * 8 * 1000);
  b.plane->set_demand(flow, BitRate{0}, us(3000));
  EXPECT_EQ(b.plane->rate(flow, us(5000)).value(), 0);
  b.plane->remove(flow, us(5000));
  EXPECT_EQ(b.plane->next_event(), std::nullopt);
  const TrafficId other = b.add(2, 3, 10 * gbit, 0, us(5000));
  EXPECT_NEAR(b.plane->rate(other, us(7000)).value(), 10 * gbit, packet * 8 * 1000);
  EXPECT_EQ(b.plane->figures(us(7000)).flows, 1U);
}

TEST(PacketPlane, ReadingChangesNothing) {
  const auto fingerprint = [](std::int64_t step, std::uint64_t pace) {
    PacketPlaneOptions options;
    options.events_per_ms = pace;
    Bench b{"xgft:1;4;1", options};
    for (std::size_t i = 0; i < b.hosts.size(); ++i) b.add(i, (i + 1) % b.hosts.size(), all);
    for (std::int64_t at = step; at < 1500; at += step) (void)b.bytes(b.hosts[0], us(at));
    std::vector<std::uint64_t> seen;
    for (const PortIndex host : b.hosts) {
      const PortTotals totals = b.plane->read(host, us(1500));
      seen.insert(seen.end(), {totals.xmit_data, totals.rcv_data, totals.xmit_wait});
    }
    seen.push_back(static_cast<std::uint64_t>(b.plane->figures(us(1500)).stood_still.count()));
    return seen;
  };
  EXPECT_EQ(fingerprint(7, 0), fingerprint(1500, 0));
  EXPECT_EQ(fingerprint(7, 500), fingerprint(1500, 500));
  EXPECT_EQ(fingerprint(1500, 0).back(), 0U);
  EXPECT_GT(fingerprint(1500, 500).back(), 0U);
}

// With two LIDs a host, regulation moves connections from one plane of paths to the other.
TEST(PacketPlane, ConnectionsMoveBetweenLidPlanes) {
  Bench b{"xgft:2;2,2;1,2", {}, Managed::No};
  bring_up(b.fabric, {.lmc = 1});
  const TrafficId moves = b.add(0, 3, 10 * gbit);
  const auto stays = b.plane->add(
      {.from = b.hosts[1], .to = b.hosts[2], .demand = BitRate{10 * gbit}, .path_offset = std::uint8_t{0}},
      us(0));
  ASSERT_TRUE(stays);
  EXPECT_NEAR(b.plane->rate(moves, us(2000)).value(), 10 * gbit, packet * 8 * 1000);
  PathMigration hosts{*b.plane};
  ASSERT_TRUE(hosts.move_all(1, us(2000)));
  EXPECT_EQ(b.plane->path(moves), 1);
  EXPECT_EQ(b.plane->path(*stays), 0);
  EXPECT_NEAR(b.plane->rate(moves, us(4000)).value(), 10 * gbit, packet * 8 * 1000);
  EXPECT_NEAR(b.plane->rate(*stays, us(4000)).value(), 10 * gbit, packet * 8 * 1000);
  b.plane->set_path(moves, 2, us(4000));  // nobody answers to it
  EXPECT_EQ(b.plane->rate(moves, us(6000)).value(), 0);
  EXPECT_GT(b.plane->simulator().totals().unroutable, 0U);
}

TEST(PacketPlane, RefusesEndsThatCannotBe) {
  Bench b{one_switch};
  const auto error = [&](PortIndex from, PortIndex to) {
    const auto result = b.plane->add({.from = from, .to = to}, us(0));
    return result ? std::string() : result.error().message;
  };
  EXPECT_THAT(error(b.leaf_port(0), b.hosts[0]), HasSubstr("no cabled port of a host"));
  EXPECT_THAT(error(b.hosts[0], b.leaf_port(1)), HasSubstr("no cabled port of a host"));
  EXPECT_THAT(error(b.hosts[0], b.hosts[0]), HasSubstr("to itself"));
  EXPECT_THAT(error(PortIndex{100'000}, b.hosts[0]), HasSubstr("100000"));
  EXPECT_FALSE(b.plane->add({.from = b.hosts[0], .to = b.hosts[1], .demand = BitRate{NAN}}, us(0)));
}

}  // namespace
}  // namespace heddle::sim
