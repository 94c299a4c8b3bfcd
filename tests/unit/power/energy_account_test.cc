#include "power/energy_account.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "fabric/generators.h"

namespace heddle::power {
namespace {

using std::chrono::seconds;

class EnergyAccountTest : public testing::Test {
 protected:
  Instant at(int s) const { return Instant{} + seconds{s}; }

  std::shared_ptr<const Fabric> fabric = *generate("torus:3x3,hosts=1,links=2,speed=DDR,ports=24");
  std::vector<LinkMode> full = all_on(*fabric);
  EnergyAccount account;

  LinkIndex switch_link() const {
    for (std::uint32_t i = 0; i < full.size(); ++i) {
      const Link& link = fabric->link(LinkIndex{i});
      if (fabric->node(link.a.node).type == fabric->node(link.b.node).type) return LinkIndex{i};
    }
    return no_link;
  }
};

TEST_F(EnergyAccountTest, EverythingOnSpendsAndSavesNothing) {
  account.set(at(0), *fabric, full, full);
  account.advance(at(100));
  EXPECT_NEAR(account.total().spent.value(), 100 * watts(PowerModel{}, *fabric, full).value(), 1e-6);
  EXPECT_DOUBLE_EQ(account.total().saved.value(), 0);
}

TEST_F(EnergyAccountTest, ALinkThatIsOffSavesBothItsPorts) {
  const LinkIndex off = switch_link();
  const LinkRef ref = link_ref(*fabric, fabric->link(off));
  std::vector<LinkMode> modes = full;
  account.set(at(0), *fabric, modes, full);
  modes[off.raw()] = off_mode;
  account.set(at(10), *fabric, modes, full);
  EXPECT_DOUBLE_EQ(account.saving().value(), 1.9);
  account.advance(at(30));
  EXPECT_NEAR(account.link(ref).spent.value(), 19, 1e-9);
  EXPECT_NEAR(account.link(ref).saved.value(), 38, 1e-9);
  EXPECT_NEAR(account.node(ref.a.node).saved.value(), 19, 1e-9);
  EXPECT_NEAR(account.total().saved.value(), 38, 1e-9);
}

TEST_F(EnergyAccountTest, PartsAreLinksBetweenSwitchesAndSwitchesAndAll) {
  std::vector<LinkMode> modes = full;
  modes[switch_link().raw()] = off_mode;
  account.set(at(0), *fabric, modes, full);
  account.advance(at(10));
  // 3x3 torus, 2 cables in each of 18 trunks, one host a switch: hosts' ports are the switches', not links.
  const Parts parts = account.parts();
  EXPECT_NEAR(parts.links.power.value(), 35 * 2 * 0.95, 1e-9);
  EXPECT_NEAR(parts.links.saving.value(), 2 * 0.95, 1e-9);
  EXPECT_NEAR(parts.links.totals.saved.value(), 10 * 2 * 0.95, 1e-9);
  EXPECT_NEAR(parts.switches.power.value(), 9 * 43.4 + 70 * 0.95 + 9 * 0.95, 1e-9);
  EXPECT_EQ(parts.switches.saving, parts.links.saving);
  EXPECT_EQ(parts.network.totals, account.total());

  // What a journal kept of them counts again as soon as they are seen.
  EnergyAccount next;
  next.restore(account.record());
  next.set(at(20), *fabric, modes, full);
  EXPECT_NEAR(next.parts().links.totals.spent.value(), parts.links.totals.spent.value(), 1e-9);
  EXPECT_NEAR(next.parts().links.totals.saved.value(), parts.links.totals.saved.value(), 1e-9);
  EXPECT_EQ(next.parts().network.totals, parts.network.totals);
}

TEST_F(EnergyAccountTest, AReducedLinkSavesTheDifference) {
  std::vector<LinkMode> modes = full;
  modes[switch_link().raw()] = {LinkWidth::X1, LinkSpeed::Sdr};
  account.set(at(0), *fabric, modes, full);
  account.advance(at(1));
  EXPECT_NEAR(account.total().saved.value(), 2 * (0.95 - 0.21), 1e-9);
}

TEST_F(EnergyAccountTest, TotalsGoOnAfterARestart) {
  std::vector<LinkMode> modes = full;
  modes[switch_link().raw()] = off_mode;
  account.set(at(0), *fabric, modes, full);
  account.advance(at(50));

  EnergyAccount next;
  next.restore(account.record());
  EXPECT_EQ(next.record(), account.record());
  next.set(at(1000), *fabric, modes, full);
  next.advance(at(1050));
  EXPECT_NEAR(next.total().saved.value(), 2 * account.total().saved.value(), 1e-9);
  EXPECT_NEAR(next.total().spent.value(), 2 * account.total().spent.value(), 1e-6);
}

TEST_F(EnergyAccountTest, WhatIsGoneDrawsNothingAndKeepsItsTotals) {
  account.set(at(0), *fabric, full, full);
  account.advance(at(10));
  const EnergyTotals before = account.total();
  const auto empty = FabricBuilder{}.build();
  account.set(at(10), *empty, {}, {});
  account.advance(at(20));
  EXPECT_EQ(account.total(), before);
}

/// Memory and journal grew by a link for each name that a node gave itself.
TEST_F(EnergyAccountTest, OfManyThatAreGoneThoseWithTheLargestTotalsAreKept) {
  constexpr std::size_t names = 3 * EnergyAccount::most_gone;
  EnergyRecord record;
  for (std::uint64_t i = 0; i < names; ++i) {
    const PortRef here{NodeGuid{1'000'000 + i}, PortNum{1}};
    record.links.push_back({{here, {NodeGuid{2'000'000 + i}, PortNum{1}}}, {Joules{1.0 * i}, {}}});
    record.switches.push_back({here.node, {Joules{1.0 * i}, {}}});
  }
  account.restore(record);
  account.set(at(0), *fabric, full, full);
  account.advance(at(10));
  const EnergyRecord kept = account.record();
  EXPECT_EQ(kept.links.size(), EnergyAccount::most_gone + full.size());
  EXPECT_EQ(account.link(record.links.back().first).spent, record.links.back().second.spent);
  EXPECT_EQ(account.link(record.links.front().first), EnergyTotals{});
  EXPECT_GT(account.link(link_ref(*fabric, fabric->link(LinkIndex{0}))).spent, Joules{});
  EXPECT_LE(kept.switches.size(), EnergyAccount::most_gone + fabric->nodes().size());
}

// Whatever happens to the links, the switches' energy together is the whole, and spent + saved is what
// everything on would have spent.
RC_GTEST_FIXTURE_PROP(EnergyAccountTest, NothingIsLostBetweenTheAccounts, ()) {
  const auto steps = *rc::gen::inRange(1, 6);
  int now = 0;
  for (int i = 0; i < steps; ++i) {
    std::vector<LinkMode> modes = full;
    for (LinkMode& mode : modes) {
      mode = *rc::gen::element(mode, off_mode, LinkMode{LinkWidth::X1, LinkSpeed::Sdr});
    }
    account.set(at(now), *fabric, modes, full);
    now += *rc::gen::inRange(0, 1000);
  }
  account.advance(at(now));
  Joules spent;
  Joules saved;
  for (const auto& [guid, totals] : account.record().switches) {
    spent += totals.spent;
    saved += totals.saved;
  }
  RC_ASSERT(std::abs(spent.value() - account.total().spent.value()) < 1e-3);
  RC_ASSERT(std::abs(saved.value() - account.total().saved.value()) < 1e-3);
  const double all_on = watts(PowerModel{}, *fabric, full).value() * now;
  RC_ASSERT(std::abs(spent.value() + saved.value() - all_on) < 1e-3);
}

}  // namespace
}  // namespace heddle::power
