#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>

#include "qos/dtable_arbiter.h"
#include "qos/iba_arbiter.h"
#include "qos/simple_arbiters.h"

namespace heddle::qos {
namespace {

using testing::ElementsAre;

ArbEntry entry(unsigned vl, unsigned weight) {
  return {Vl{static_cast<std::uint8_t>(vl)}, static_cast<std::uint8_t>(weight)};
}

template <class Arbiter>
std::vector<int> lanes(Arbiter& arbiter, const std::vector<std::uint32_t>& heads, int count) {
  std::vector<int> out;
  for (int i = 0; i < count; ++i) {
    const auto pick = arbiter.select(heads);
    out.push_back(pick ? pick->lane.raw() : -1);
  }
  return out;
}

TEST(IbaArbiter, TheStepExampleOfTheThesis) {
  // Brings the counter to 3,968 of 4,096 bytes: 62 packets of 64 bytes.
  IbaArbiter arbiter{
      {{entry(0, 255), entry(1, 1)}, {entry(2, 2)}, HighLimit{1}}, LowGrant::Entry, Rounding::Up};
  const std::vector<std::uint32_t> heads{64, 64, 64};
  (void)lanes(arbiter, heads, 62);
  EXPECT_THAT(lanes(arbiter, heads, 5), ElementsAre(0, 0, 2, 2, 0));
}

TEST(IbaArbiter, OnePacketGrantKeepsTheWeightOfTheLowEntry) {
  IbaArbiter arbiter{
      {{entry(0, 255)}, {entry(2, 2), entry(3, 1)}, HighLimit{1}}, LowGrant::Packet, Rounding::Up};
  const std::vector<std::uint32_t> heads{4096, 0, 64, 64};
  EXPECT_THAT(lanes(arbiter, heads, 8), ElementsAre(0, 2, 0, 2, 0, 3, 0, 2));
}

TEST(IbaArbiter, LimitZeroIsOneHighPacket) {
  IbaArbiter arbiter{{{entry(0, 255)}, {entry(1, 1)}, one_packet}, LowGrant::Entry, Rounding::Up};
  EXPECT_THAT(lanes(arbiter, {64, 64}, 4), ElementsAre(0, 1, 0, 1));
}

TEST(IbaArbiter, NoLimitStarvesTheLowTableOnlyWhileHighWaits) {
  IbaArbiter arbiter{{{entry(0, 1)}, {entry(1, 1)}, no_limit}, LowGrant::Entry, Rounding::Up};
  EXPECT_THAT(lanes(arbiter, {64, 64}, 3), ElementsAre(0, 0, 0));
  EXPECT_THAT(lanes(arbiter, {0, 64}, 2), ElementsAre(1, 1));
  EXPECT_THAT(lanes(arbiter, {0, 0}, 1), ElementsAre(-1));
}

TEST(IbaArbiter, AnyRestOfWeightSendsAWholePacket) {
  IbaArbiter arbiter{{{entry(0, 65), entry(1, 1)}, {}, no_limit}, LowGrant::Entry, Rounding::Up};
  EXPECT_THAT(lanes(arbiter, {4096, 4096}, 6), ElementsAre(0, 0, 1, 0, 0, 1));
}

TEST(IbaArbiter, AnOverdraftIsTakenFromTheNextTurn) {
  // 96 units of 64 bytes are one and a half packets of 4,096.
  IbaArbiter arbiter{{{entry(0, 96), entry(1, 64)}, {}, no_limit}, LowGrant::Entry, Rounding::Deficit};
  EXPECT_THAT(lanes(arbiter, {4096, 4096}, 10), ElementsAre(0, 0, 1, 0, 1, 0, 0, 1, 0, 1));
}

TEST(IbaArbiter, ASmallWeightSitsOutWhileItsOverdraftLasts) {
  IbaArbiter arbiter{{{entry(0, 16), entry(1, 64)}, {}, no_limit}, LowGrant::Entry, Rounding::Deficit};
  EXPECT_THAT(lanes(arbiter, {4096, 4096}, 7), ElementsAre(0, 1, 1, 1, 1, 0, 1));
}

TEST(IbaArbiter, UnitsCountEveryPacketAsOne) {
  IbaArbiter arbiter{{{entry(0, 2), entry(1, 1)}, {}, no_limit}, LowGrant::Entry, Rounding::Units};
  EXPECT_THAT(lanes(arbiter, {4096, 4096}, 6), ElementsAre(0, 0, 1, 0, 0, 1));
}

TEST(IbaArbiter, SelectionsAreToldFromContinuations) {
  IbaArbiter arbiter{{{entry(0, 2), entry(1, 1)}, {entry(2, 1)}, one_packet}, LowGrant::Entry, Rounding::Up};
  const std::array<std::uint32_t, 3> heads{64, 64, 64};
  EXPECT_EQ(arbiter.select(heads), (Pick{Lane{0}, Source::High, 0, Selection::New}));
  EXPECT_EQ(arbiter.select(heads), (Pick{Lane{2}, Source::Low, 0, Selection::New}));
  EXPECT_EQ(arbiter.select(heads), (Pick{Lane{0}, Source::High, 0, Selection::Continued}));
  EXPECT_EQ(arbiter.select(heads), (Pick{Lane{2}, Source::Low, 0, Selection::New}));
  EXPECT_EQ(arbiter.select(heads), (Pick{Lane{1}, Source::High, 1, Selection::New}));
}

TEST(IbaArbiter, EmptyTablesSelectNothing) {
  IbaArbiter arbiter{{}, LowGrant::Entry, Rounding::Up};
  EXPECT_THAT(lanes(arbiter, {64, 64}, 2), ElementsAre(-1, -1));
}

TEST(DTableArbiter, TheExampleOfTheThesis) {
  DTableArbiter arbiter{{{Lane{0}, 3}, {Lane{1}, 2}}};
  const std::vector<std::uint32_t> both{128, 128};
  EXPECT_THAT(lanes(arbiter, both, 2), ElementsAre(0, 1));
  EXPECT_EQ(arbiter.deficit(Lane{0}), 1U);
  EXPECT_THAT(lanes(arbiter, both, 3), ElementsAre(0, 0, 1));
  EXPECT_EQ(arbiter.deficit(Lane{0}), 0U);
}

TEST(DTableArbiter, ALaneThatRunsDryLosesWhatItSaved) {
  DTableArbiter arbiter{{{Lane{0}, 3}, {Lane{1}, 2}}};
  EXPECT_THAT(lanes(arbiter, {128, 128}, 1), ElementsAre(0));
  EXPECT_THAT(lanes(arbiter, {0, 128}, 1), ElementsAre(1));
  EXPECT_EQ(arbiter.deficit(Lane{0}), 0U);
}

TEST(DTableArbiter, ALargeMessageSavesUpOverSeveralTurns) {
  DTableArbiter arbiter{{{Lane{0}, 1}, {Lane{1}, 1}}};
  EXPECT_THAT(lanes(arbiter, {192, 64}, 8), ElementsAre(1, 1, 0, 1, 1, 1, 0, 1));
}

TEST(SbtArbiter, GoesOnWithALaneWhileWeightLasts) {
  SbtArbiter arbiter{{2, 1}, {0, 1}};
  EXPECT_THAT(lanes(arbiter, {64, 64}, 6), ElementsAre(0, 0, 1, 1, 0, 0));
}

TEST(SbtArbiter, WastesNoLinkTimeWithoutWeight) {
  SbtArbiter arbiter{{1, 1, 1}, {0, 1, 2}};
  // Lane 2 never waits: its weight is never used up, and the others go on without.
  EXPECT_THAT(lanes(arbiter, {64, 64, 0}, 6), ElementsAre(0, 1, 0, 1, 0, 1));
}

TEST(SbtArbiter, RestoresWhenAScanFindsAllWaitingAndDry) {
  SbtArbiter arbiter{{2, 1}, {0, 1}, SbtRestore::AllWaitingDry};
  EXPECT_THAT(lanes(arbiter, {64, 64}, 6), ElementsAre(0, 0, 1, 1, 0, 0));
  // Dry, and lane 1 does not wait: no restoring, lane 0 is served all the same.
  EXPECT_THAT(lanes(arbiter, {64, 0}, 4), ElementsAre(0, 0, 0, 0));
}

TEST(SbtArbiter, LanesOfOneSlShareItsWeight) {
  SbtArbiter arbiter{{2, 2}, {0, 0, 1}};
  EXPECT_THAT(lanes(arbiter, {0, 64, 64}, 4), ElementsAre(1, 1, 2, 2));
  EXPECT_EQ(arbiter.select({}), std::nullopt);
}

TEST(RoundRobinArbiter, TakesTurns) {
  RoundRobinArbiter arbiter;
  EXPECT_THAT(lanes(arbiter, {64, 0, 64}, 3), ElementsAre(0, 2, 0));
  EXPECT_THAT(lanes(arbiter, {64, 64, 64}, 3), ElementsAre(1, 2, 0));
  EXPECT_EQ(arbiter.select({}), std::nullopt);
}

}  // namespace
}  // namespace heddle::qos
