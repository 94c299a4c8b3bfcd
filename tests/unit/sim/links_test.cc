#include <algorithm>
#include <utility>

#include "sim/training.h"
#include "unit/sim/sim_fixture.h"

namespace heddle::sim {
namespace {

using mad::Method;
using mad::SmAttr;
using mad::status::bad_field;
using mad::status::ok;

class LinksTest : public SimTest {};

TEST_F(LinksTest, StatesClimbOneByOne) {
  EXPECT_EQ(set_port({1}, 3, PortState::Active, PhysState::NoChange), bad_field);
  EXPECT_EQ(state(0x100, 3), PortState::Init);
  EXPECT_EQ(set_port({1}, 3, PortState::Armed, PhysState::NoChange), ok);
  EXPECT_EQ(set_port({1}, 3, PortState::Init, PhysState::NoChange), bad_field);
  EXPECT_EQ(set_port({1}, 3, PortState::Active, PhysState::NoChange), ok);
  EXPECT_EQ(state(0x100, 3), PortState::Active);
  EXPECT_EQ(set_port({1}, 3, PortState::Armed, PhysState::NoChange), bad_field);
  EXPECT_EQ(state(0x200, 3), PortState::Init) << "each end is set by itself";
  EXPECT_FALSE(fabric->forwards(port(0x100, 3)));
}

TEST_F(LinksTest, AnEmptyPortCannotBeRaised) {
  EXPECT_EQ(set_port({1}, 7, PortState::Armed, PhysState::NoChange), bad_field);
  EXPECT_EQ(set_port({1}, 7, PortState::Down, PhysState::Disabled), ok);
  EXPECT_EQ(physical(0x100, 7), PhysState::Disabled);
  EXPECT_EQ(set_port({1}, 7, PortState::Down, PhysState::Polling), ok);
  EXPECT_EQ(physical(0x100, 7), PhysState::Polling);
}

TEST_F(LinksTest, IllegalPhysicalStatesAreRefused) {
  EXPECT_EQ(set_port({1}, 3, PortState::NoChange, PhysState::LinkUp), bad_field);
  EXPECT_EQ(set_port({1}, 3, PortState::NoChange, PhysState::Training), bad_field);
  EXPECT_EQ(set_port({1}, 3, PortState::Armed, PhysState::Disabled), bad_field);
  EXPECT_EQ(state(0x100, 3), PortState::Init);
}

TEST_F(LinksTest, DisableTakesBothEndsDownAndPollingTrainsThemAgain) {
  for (const LinkIndex i : {link(0x100, 3)}) fabric->set_training_delay(i, 2s);
  bring_up(*fabric);
  ASSERT_TRUE(fabric->forwards(port(0x100, 3)));
  EXPECT_EQ(set_port({1}, 3, PortState::NoChange, PhysState::Disabled), ok);
  EXPECT_EQ(physical(0x100, 3), PhysState::Disabled);
  EXPECT_EQ(state(0x100, 3), PortState::Down);
  EXPECT_EQ(physical(0x200, 3), PhysState::Polling);
  EXPECT_EQ(state(0x200, 3), PortState::Down);

  EXPECT_EQ(set_port({1}, 3, PortState::NoChange, PhysState::Polling), ok);
  EXPECT_EQ(physical(0x100, 3), PhysState::Training);
  EXPECT_EQ(physical(0x200, 3), PhysState::Training);
  EXPECT_EQ(fabric->next_event(), now + 2s);
  pass(1999ms);
  EXPECT_EQ(state(0x200, 3), PortState::Down);
  pass(1ms);
  EXPECT_EQ(state(0x100, 3), PortState::Init);
  EXPECT_EQ(physical(0x200, 3), PhysState::LinkUp);
  EXPECT_EQ(state(0x200, 3), PortState::Init);
}

TEST_F(LinksTest, TrainingTimesAreDrawnForEachLinkAndStayNearItsOwn) {
  const TrainingTimes times{5, 2s, 180s};
  Picoseconds quickest = times.longest;
  Picoseconds slowest{0};
  for (std::uint32_t i = 0; i < 200; ++i) {
    const Picoseconds first = training_time(times, LinkIndex{i}, 0);
    for (std::uint32_t n = 0; n < 20; ++n) {
      const Picoseconds time = training_time(times, LinkIndex{i}, n);
      EXPECT_EQ(time, training_time(times, LinkIndex{i}, n));
      EXPECT_GE(time, times.shortest);
      EXPECT_LE(time, times.longest);
      EXPECT_GE(time, first * 2 / 3 - 1ms);  // 0.8 / 1.2
      EXPECT_LE(time, first * 3 / 2 + 1ms);
      quickest = std::min(quickest, time);
      slowest = std::max(slowest, time);
    }
  }
  EXPECT_LT(quickest, 3s);
  EXPECT_GT(slowest, 150s);
  EXPECT_NE(training_time(times, LinkIndex{0}, 0), training_time({6, 2s, 180s}, LinkIndex{0}, 0));
}

TEST_F(LinksTest, ALinkTrainsForATimeOfItsOwn) {
  Options options;
  options.training_delay = 2s;
  options.longest_training = 180s;
  SimulatedFabric drawn{two_switches(), options};
  const LinkIndex cable = link(0x100, 3);
  drawn.cut(cable, now);
  drawn.mend(cable, now);
  ASSERT_TRUE(drawn.next_event());
  EXPECT_GE(*drawn.next_event(), now + 2s);
  EXPECT_LE(*drawn.next_event(), now + 180s);
  drawn.cut(cable, now);
  drawn.set_training_delay(cable, 7s);
  drawn.mend(cable, now);
  drawn.advance(now + 7s);
  EXPECT_EQ(drawn.port_info(port(0x100, 3)).physical, PhysState::LinkUp);
}

TEST_F(LinksTest, DisablingWhileItTrainsCallsItOff) {
  fabric->set_training_delay(link(0x100, 3), 2s);
  set_port({1}, 3, PortState::NoChange, PhysState::Disabled);
  set_port({1}, 3, PortState::NoChange, PhysState::Polling);
  pass(1s);
  set_port({1}, 3, PortState::NoChange, PhysState::Disabled);
  pass(5s);
  EXPECT_EQ(physical(0x100, 3), PhysState::Disabled);
  EXPECT_EQ(physical(0x200, 3), PhysState::Polling);
}

TEST_F(LinksTest, BothEndsDisabledNeedBothToPoll) {
  set_port({1}, 3, PortState::NoChange, PhysState::Disabled);
  set_port({1, 4}, 3, PortState::NoChange, PhysState::Disabled);
  set_port({1}, 3, PortState::NoChange, PhysState::Polling);
  EXPECT_EQ(physical(0x100, 3), PhysState::Polling);
  set_port({1, 4}, 3, PortState::NoChange, PhysState::Polling);
  EXPECT_EQ(physical(0x100, 3), PhysState::LinkUp);
}

TEST_F(LinksTest, DownBouncesTheLink) {
  bring_up(*fabric);
  EXPECT_EQ(set_port({1}, 3, PortState::Down, PhysState::NoChange), ok);
  EXPECT_EQ(state(0x100, 3), PortState::Init);
  EXPECT_EQ(state(0x200, 3), PortState::Init);
}

TEST_F(LinksTest, AnAnswerLeavesBeforeTheLinkItDisables) {
  bring_up(*fabric);
  EXPECT_EQ(set_port({1}, 1, PortState::NoChange, PhysState::Disabled), ok);
  EXPECT_EQ(physical(0x10, 1), PhysState::Polling);
  EXPECT_FALSE(ask(directed({1}, Method::Get, SmAttr::NodeInfo)));
}

TEST_F(LinksTest, AReducedWidthTakesEffectWithTheNextTraining) {
  auto info = *get<mad::PortInfo>({1}, SmAttr::PortInfo, 3);
  info.state = PortState::NoChange;
  info.physical = PhysState::NoChange;
  info.link_width_enabled = 1;
  EXPECT_EQ(set({1}, SmAttr::PortInfo, 3, info), ok);
  EXPECT_EQ(fabric->active_width(port(0x100, 3)), LinkWidth::X4);
  set_port({1}, 3, PortState::Down, PhysState::NoChange);
  EXPECT_EQ(fabric->active_width(port(0x100, 3)), LinkWidth::X1);
  EXPECT_EQ(fabric->active_width(port(0x200, 3)), LinkWidth::X1);
  info.link_width_enabled = 8;  // 12x is not supported
  EXPECT_EQ(set({1}, SmAttr::PortInfo, 3, info), bad_field);
}

TEST_F(LinksTest, EntriesThatBeginToLeadNowhereAreCounted) {
  bring_up(*fabric);
  auto grown = [this, before = fabric->dead_ends()]() mutable {
    const DeadEnds at = std::exchange(before, fabric->dead_ends());
    return std::pair{before.unicast - at.unicast, before.multicast - at.multicast};
  };
  // Down from S0 by port 3 to S1, H1 and H3, or by port 4.
  auto table = *get<mad::LftBlock>({1}, SmAttr::LinearForwardingTable);
  mad::LftBlock by_four = table;
  const auto entries = static_cast<std::uint64_t>(std::ranges::count(table.ports, PortNum{3}));
  ASSERT_GT(entries, 0U);
  std::ranges::replace(by_four.ports, PortNum{3}, PortNum{4});
  mad::MftBlock group;
  group.masks[1] = 1U << 1U | 1U << 3U;
  EXPECT_EQ(set({1}, SmAttr::MulticastForwardingTable, 0, group), ok);
  EXPECT_EQ(grown(), std::pair(std::uint64_t{0}, std::uint64_t{0}));

  fabric->cut(link(0x100, 3), now);
  const auto back = static_cast<std::uint64_t>(
      std::ranges::count(fabric->forwarding_table(node(0x200)).first(64), PortNum{3}));
  EXPECT_EQ(grown(), std::pair(entries + back, std::uint64_t{1}));
  EXPECT_EQ(set({1}, SmAttr::LinearForwardingTable, 0, by_four), ok);
  EXPECT_EQ(set({1}, SmAttr::MulticastForwardingTable, 0, group), ok);
  EXPECT_EQ(grown(), std::pair(std::uint64_t{0}, std::uint64_t{0})) << "what stands is not counted again";
  EXPECT_EQ(set({1}, SmAttr::LinearForwardingTable, 0, table), ok);
  EXPECT_EQ(grown().first, entries);
  group.masks[2] = 1U << 3U;
  EXPECT_EQ(set({1}, SmAttr::MulticastForwardingTable, 0, group), ok);
  EXPECT_EQ(grown().second, 1U);
}

TEST_F(LinksTest, CutAndMendedCables) {
  bring_up(*fabric);
  fabric->cut(link(0x100, 3), now);
  EXPECT_EQ(state(0x100, 3), PortState::Down);
  EXPECT_EQ(physical(0x200, 3), PhysState::Polling);
  set_port({1}, 3, PortState::Down, PhysState::Polling);
  EXPECT_EQ(physical(0x100, 3), PhysState::Polling);
  fabric->mend(link(0x100, 3), now);
  EXPECT_EQ(state(0x100, 3), PortState::Init);
}

TEST_F(LinksTest, AFlappingLinkGoesDownAndUpAsOften) {
  bring_up(*fabric);
  fabric->flap(link(0x100, 3), {.down = 1s, .up = 2s, .times = 2}, now);
  EXPECT_EQ(state(0x100, 3), PortState::Down);
  pass(1s);
  EXPECT_EQ(state(0x100, 3), PortState::Init);
  pass(2s);
  EXPECT_EQ(state(0x100, 3), PortState::Down);
  pass(1s);
  EXPECT_EQ(state(0x100, 3), PortState::Init);
  pass(10s);
  EXPECT_EQ(state(0x100, 3), PortState::Init);
  const auto counters = ask(perf(lid(0x100, 0), Method::Get, mad::PmAttr::PortCounters, 3));
  ASSERT_TRUE(counters);
  EXPECT_EQ(mad::decode_gmp<mad::PortCounters>(mad::gmp_data(counters->mad)).link_downed, 2);
}

TEST_F(LinksTest, ADeadSwitchForgetsEverything) {
  bring_up(*fabric);
  fabric->kill(node(0x200), now);
  EXPECT_EQ(state(0x100, 3), PortState::Down);
  EXPECT_EQ(state(0x20, 1), PortState::Down);
  EXPECT_FALSE(ask(directed({1, 3}, Method::Get, SmAttr::NodeInfo)));
  fabric->revive(node(0x200), now);
  EXPECT_EQ(state(0x100, 3), PortState::Init);
  EXPECT_EQ(lid(0x200, 0), no_lid);
  EXPECT_TRUE(fabric->forwarding_table(node(0x200)).empty());
  EXPECT_TRUE(ask(directed({1, 3}, Method::Get, SmAttr::NodeInfo)));
}

TEST_F(LinksTest, TheDataPlaneHearsOfEveryChange) {
  struct Log : ChangeListener {
    void changed(const Change& change, Picoseconds at) override { entries.emplace_back(change, at); }
    std::vector<std::pair<Change, Picoseconds>> entries;
  } log;
  bring_up(*fabric);
  fabric->set_change_listener(&log);
  pass(3s);
  set_port({1}, 3, PortState::NoChange, PhysState::Disabled);
  ASSERT_EQ(log.entries.size(), 2U);
  EXPECT_EQ(log.entries[0].first.kind, Change::Kind::PortState);
  EXPECT_EQ(log.entries[0].first.port, port(0x100, 3));
  EXPECT_EQ(log.entries[1].first.port, port(0x200, 3));
  EXPECT_EQ(log.entries[0].second, Picoseconds{3s});
}

}  // namespace
}  // namespace heddle::sim
