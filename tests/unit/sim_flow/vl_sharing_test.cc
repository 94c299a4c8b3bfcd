// Virtual lanes share a port as its arbitration tables say.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "flow_fixture.h"
#include "qos/analyzer.h"
#include "sim/flow/vl_shares.h"

namespace heddle::sim {
namespace {

using testing::DoubleNear;

/// Tables that a test gives, for ports of its choice.
class TablesView final : public FabricView {
 public:
  using FabricView::FabricView;
  [[nodiscard]] qos::VlArbitration arbitration(PortIndex port) const override {
    const auto own = tables.find(port);
    return own != tables.end() ? own->second : everywhere;
  }
  qos::VlArbitration everywhere;
  std::unordered_map<PortIndex, qos::VlArbitration> tables;
};

qos::VlArbitration weights(std::initializer_list<std::pair<int, int>> low) {
  qos::VlArbitration tables;
  for (const auto& [vl, weight] : low) {
    tables.low.push_back({Vl{static_cast<std::uint8_t>(vl)}, static_cast<std::uint8_t>(weight)});
  }
  return tables;
}

struct Lanes {
  explicit Lanes(const char* spec = one_switch)
      : fabric{*generate(spec)}, hosts{host_ports(fabric.description())} {
    fabric.set_change_listener(&plane);
    bring_up(fabric);
  }
  TrafficId add(std::size_t from, std::size_t to, int sl, double demand = unlimited.value()) {
    return *plane.add({.from = hosts[from],
                       .to = hosts[to],
                       .sl = Sl{static_cast<std::uint8_t>(sl)},
                       .demand = BitRate{demand}},
                      0_s);
  }
  [[nodiscard]] double share(TrafficId flow) { return plane.rate(flow, 0_s).value() / (200 * gbit); }

  SimulatedFabric fabric;
  TablesView view{fabric};
  FlowPlane plane{view};
  std::vector<PortIndex> hosts;
};

// Configuration A of the thesis (facts/qos.md 2): VL3 gets 3/35, the others 32/35 in the ratio 264 : 158 :
// 106.
TEST(VlSharing, SaturatingFlowsGetTheSharesOfTheAnalyzer) {
  Lanes lanes;
  qos::VlArbitration& tables = lanes.view.everywhere;
  for (int i = 0; i < 32; ++i) {
    tables.high.push_back({Vl{0}, static_cast<std::uint8_t>(i < 8 ? 9 : 8)});
    if (i % 2 == 0) tables.high.push_back({Vl{1}, static_cast<std::uint8_t>(i < 28 ? 10 : 9)});
    if (i % 2 == 1) tables.high.push_back({Vl{2}, static_cast<std::uint8_t>(i < 20 ? 7 : 6)});
  }
  tables.low.push_back({Vl{3}, 6});
  const auto analysis = qos::analyze(tables);
  ASSERT_TRUE(analysis);
  std::vector<TrafficId> flows;
  for (int sl = 0; sl < 4; ++sl) flows.push_back(lanes.add(0, 1, sl));
  for (std::size_t vl = 0; vl < 4; ++vl) {
    EXPECT_THAT(lanes.share(flows[vl]), DoubleNear(analysis->vls[vl].share.value(), 1e-9)) << vl;
  }
  EXPECT_THAT(lanes.share(flows[3]), DoubleNear(3.0 / 35, 1e-9));
}

TEST(VlSharing, WithinAVlFlowsShareAlike) {
  Lanes lanes;
  lanes.view.everywhere = weights({{0, 30}, {1, 10}});
  const auto a = lanes.add(0, 3, 0);
  const auto b = lanes.add(1, 3, 0);
  const auto c = lanes.add(2, 3, 1);
  EXPECT_THAT(lanes.share(a), DoubleNear(0.375, 1e-9));
  EXPECT_THAT(lanes.share(b), DoubleNear(0.375, 1e-9));
  EXPECT_THAT(lanes.share(c), DoubleNear(0.25, 1e-9));
}

TEST(VlSharing, WhatOneVlLeavesTheOthersGet) {
  Lanes lanes;
  lanes.view.everywhere = weights({{0, 20}, {1, 10}, {2, 10}});
  const auto a = lanes.add(0, 1, 0, 0.2 * 200 * gbit);
  const auto b = lanes.add(0, 1, 1);
  const auto c = lanes.add(0, 1, 2);
  EXPECT_THAT(lanes.share(a), DoubleNear(0.2, 1e-9));
  EXPECT_THAT(lanes.share(b), DoubleNear(0.4, 1e-9));
  EXPECT_THAT(lanes.share(c), DoubleNear(0.4, 1e-9));
  lanes.plane.remove(c, 0_s);
  EXPECT_THAT(lanes.share(b), DoubleNear(0.8, 1e-9));
  lanes.plane.set_demand(a, unlimited, 0_s);
  EXPECT_THAT(lanes.share(a), DoubleNear(2.0 / 3, 1e-9));
}

TEST(VlSharing, AVlThatTheTablesDoNotServeIsStarved) {
  Lanes lanes;
  lanes.view.everywhere = weights({{0, 10}});
  const auto served = lanes.add(0, 1, 0, 50 * gbit);
  const auto starved = lanes.add(0, 1, 1, 200 * gbit);
  EXPECT_EQ(lanes.share(served), 0.25);
  EXPECT_EQ(lanes.share(starved), 0);
  EXPECT_EQ(lanes.plane.read_vls(lanes.hosts[0], 1_s).xmit_wait[1], 250'000'000U);
  lanes.plane.set_demand(starved, BitRate{gbit}, 1_s);
  EXPECT_EQ(lanes.plane.rate(starved, 1_s).value(), 0);
}

TEST(VlSharing, HighPriorityWithoutALimitStarvesTheLowTable) {
  Lanes lanes;
  lanes.view.everywhere = weights({{1, 10}});
  lanes.view.everywhere.high.push_back({Vl{0}, 10});
  lanes.view.everywhere.limit = qos::no_limit;
  const auto high = lanes.add(0, 1, 0);
  const auto low = lanes.add(0, 1, 1);
  EXPECT_EQ(lanes.share(high), 1);
  EXPECT_EQ(lanes.share(low), 0);
  lanes.plane.set_demand(high, BitRate{150 * gbit}, 0_s);
  EXPECT_THAT(lanes.share(low), DoubleNear(0.25, 1e-9));
}

// The switch's port has other tables than the host's, but what arrives there is what the host lets through.
TEST(VlSharing, ThePortThatDataMeetsFirstDecides) {
  Lanes lanes;
  lanes.view.everywhere = weights({{0, 10}, {1, 90}});
  lanes.view.tables[lanes.hosts[0]] = weights({{0, 10}, {1, 10}});
  const auto a = lanes.add(0, 1, 0);
  const auto b = lanes.add(0, 1, 1);
  EXPECT_THAT(lanes.share(a), DoubleNear(0.5, 1e-9));
  EXPECT_THAT(lanes.share(b), DoubleNear(0.5, 1e-9));
  const auto c = lanes.add(2, 1, 1);  // now the switch's port is where they meet
  EXPECT_THAT(lanes.share(a), DoubleNear(0.1, 1e-9));
  EXPECT_THAT(lanes.share(b), DoubleNear(0.45, 1e-9));
  EXPECT_THAT(lanes.share(c), DoubleNear(0.45, 1e-9));
}

TEST(VlSharing, OtherTablesOtherShares) {
  Lanes lanes;
  lanes.view.everywhere = weights({{0, 10}, {1, 10}});
  const auto a = lanes.add(0, 1, 0);
  lanes.add(0, 1, 1);
  EXPECT_THAT(lanes.share(a), DoubleNear(0.5, 1e-9));
  lanes.view.everywhere = weights({{0, 30}, {1, 10}});
  lanes.plane.changed({.kind = Change::Kind::VlArbitration, .port = lanes.hosts[0]}, 0_s);
  EXPECT_THAT(lanes.share(a), DoubleNear(0.75, 1e-9));
}

TEST(VlSharing, NoLinkCarriesMoreThanItsRate) {
  Random random(3);
  Lanes lanes("xgft:2;6,6;1,3");
  lanes.view.everywhere = weights({{0, 40}, {1, 20}, {2, 10}, {3, 1}});
  lanes.view.everywhere.high.push_back({Vl{3}, 4});
  for (int i = 0; i < 300; ++i) {
    const std::size_t from = random.below(lanes.hosts.size());
    lanes.add(from, (from + 1 + random.below(lanes.hosts.size() - 1)) % lanes.hosts.size(),
              static_cast<int>(random.below(4)), random.unit() * 100 * gbit);
  }
  const std::size_t ports = lanes.fabric.description().ports().size();
  for (std::uint32_t p = 0; p < ports; ++p) {
    EXPECT_LE(lanes.plane.sent(PortIndex{p}, 0_s).value(), 200 * gbit * (1 + 1e-6)) << p;
  }
  EXPECT_GT(lanes.plane.figures(0_s).delivered.value(), 0.3 * lanes.plane.figures(0_s).wanted.value());
}

TEST(VlShares, DivideByShareAndHandOnTheRest) {
  VlShares shares;
  const auto tables = weights({{0, 20}, {1, 20}, {2, 40}});
  VlRates wanted{};
  wanted[0] = 5;
  wanted[1] = 100;
  wanted[2] = 100;
  const VlRates given = shares.divide(tables, 80, wanted);
  EXPECT_DOUBLE_EQ(given[0], 5);
  EXPECT_NEAR(given[1], 25, 1e-9);
  EXPECT_NEAR(given[2], 50, 1e-9);
}

}  // namespace
}  // namespace heddle::sim
