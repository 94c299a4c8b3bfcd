// Error counters of a simulated fabric, and what is made of them: for each rule a fault that breaks it, and
// one that just does not.
#include "health/error_rules.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "unit/health/health_world.h"

namespace heddle::health {
namespace {

using sim::ErrorCounter;
using testing::HasSubstr;

TEST(HealthErrors, AFabricWithoutFaultsIsWell) {
  HealthWorld world{ring};
  world.send(0, 3, BitRate{10e9});
  world.pass(130min);
  EXPECT_EQ(world.count(), 0U);
  EXPECT_EQ(world.judge().report()->ports, 2 * world.truth().links().size());
}

TEST(HealthErrors, SymbolErrorsAboveTheRateOfBitErrors) {
  HealthWorld world{ring};
  const LinkEnd end = world.end(world.trunk_link());
  // 200 Gbit/s x 720 s x 1e-14 = 1.4, and one event is no pattern.
  world.errors(end, ErrorCounter::Symbol, 1);
  world.pass(1min);
  EXPECT_EQ(world.count(), 0U);
  world.errors(end, ErrorCounter::Symbol, 1);
  world.pass(1min);
  auto found = world.findings(Rule::SymbolErrors);
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].sureness, Sureness::Likely);
  EXPECT_EQ(found[0].at, world.truth().ref(end));
  const Instant since = found[0].since;
  world.errors(end, ErrorCounter::Symbol, 20);
  world.pass(2min);
  found = world.findings(Rule::SymbolErrors);
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].sureness, Sureness::Sure);
  EXPECT_EQ(found[0].since, since) << "it is the same finding";
  EXPECT_THAT(found[0].what, HasSubstr("22 symbol errors came in within 12 min"));
  world.pass(131min);
  EXPECT_EQ(world.count(), 0U) << "the windows have passed";
}

TEST(HealthErrors, AFewSymbolErrorsAreBorneWhereNothingCorrectsThem) {
  HealthWorld world{"torus:2x2,hosts=2,links=2,speed=QDR"};
  // 32 Gbit/s x 720 s x 1e-12 = 23.
  world.errors(world.end(world.trunk_link()), ErrorCounter::Symbol, 23);
  world.pass(1min);
  EXPECT_EQ(world.count(), 0U);
  world.errors(world.end(world.trunk_link()), ErrorCounter::Symbol, 40);
  world.pass(1min);
  EXPECT_EQ(world.count(Rule::SymbolErrors), 1U);
}

TEST(HealthErrors, ASlowTrickleIsSeenInTheLongWindow) {
  HealthWorld world{ring};
  const LinkEnd end = world.end(world.trunk_link());
  for (int i = 0; i < 9; ++i) {
    world.errors(end, ErrorCounter::Symbol, 1);
    world.pass(13min);
  }
  const auto found = world.findings(Rule::SymbolErrors);
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].sureness, Sureness::Sure);
  EXPECT_THAT(found[0].what, HasSubstr("within 125 min"));
}

TEST(HealthErrors, TheEndThatSendsIsBlamedWhereErrorsComeInAtOneEndOnly) {
  HealthWorld world{ring};
  const Link& link = world.truth().link(world.trunk_link());
  world.errors(link.a, ErrorCounter::Symbol, 50);
  world.pass(1min);
  auto found = world.findings(Rule::SymbolErrors);
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].blame, world.truth().ref(link.b));
  world.errors(link.b, ErrorCounter::Symbol, 50);
  world.pass(1min);
  found = world.findings(Rule::SymbolErrors);
  ASSERT_EQ(found.size(), 2U);
  EXPECT_FALSE(found[0].blame) << "both ends: the cable";
  EXPECT_FALSE(found[1].blame);
}

/// Ends of links at this node, and what lies across.
std::vector<std::pair<LinkEnd, LinkEnd>> links_of(const Fabric& fabric, NodeIndex node) {
  std::vector<std::pair<LinkEnd, LinkEnd>> ends;
  for (const Link& link : fabric.links()) {
    if (link.a.node == node) ends.emplace_back(link.a, link.b);
    if (link.b.node == node) ends.emplace_back(link.b, link.a);
  }
  return ends;
}

TEST(HealthErrors, ANodeIsBlamedForWhatMostOfItsPortsHaveInCommon) {
  for (const bool receives : {true, false}) {
    HealthWorld world{ring};
    const NodeIndex node = world.end(world.trunk_link()).node;
    const auto ends = links_of(world.truth(), node);
    ASSERT_EQ(ends.size(), 6U);
    const PortRef whole{world.truth().node(node).guid, PortNum{0}};
    const auto hit = [&](std::size_t i) {
      world.errors(receives ? ends[i].first : ends[i].second, ErrorCounter::Symbol, 50);
    };
    hit(0);
    hit(1);
    world.pass(1min);
    for (const Finding& finding : world.findings(Rule::SymbolErrors)) EXPECT_NE(finding.blame, whole);
    hit(2);
    world.pass(1min);
    const auto found = world.findings(Rule::SymbolErrors);
    ASSERT_EQ(found.size(), 3U);
    for (const Finding& finding : found) EXPECT_EQ(finding.blame, whole);
  }
}

struct Threshold {
  Rule rule;
  ErrorCounter counter;
  std::uint64_t limit;
};

class HealthThresholds : public testing::TestWithParam<Threshold> {};

TEST_P(HealthThresholds, OneLessIsBorne) {
  HealthWorld world{ring};
  const LinkEnd end = world.end(world.trunk_link());
  world.errors(end, GetParam().counter, GetParam().limit - 1);
  world.pass(1min);
  EXPECT_EQ(world.count(), 0U);
  world.errors(end, GetParam().counter, 1);
  world.pass(1min);
  auto found = world.findings(GetParam().rule);
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(world.count(), 1U);
  EXPECT_EQ(found[0].sureness, Sureness::Likely);
  EXPECT_EQ(found[0].at, world.truth().ref(end));
  world.errors(end, GetParam().counter, 2 * GetParam().limit);
  world.pass(1min);
  found = world.findings(GetParam().rule);
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].sureness, Sureness::Sure);
  world.pass(131min);
  EXPECT_EQ(world.count(), 0U);
}

INSTANTIATE_TEST_SUITE_P(Each, HealthThresholds,
                         testing::Values(Threshold{Rule::ReceiveErrors, ErrorCounter::RcvErrors, 10},
                                         Threshold{Rule::LinkIntegrity, ErrorCounter::LocalLinkIntegrity, 2},
                                         Threshold{Rule::LinkIntegrity, ErrorCounter::ExcessiveBufferOverrun,
                                                   2},
                                         Threshold{Rule::LinkRecovery, ErrorCounter::LinkRecovers, 2},
                                         Threshold{Rule::XmitDiscards, ErrorCounter::XmitDiscards, 100}),
                         [](const auto& test) {
                           std::string name{to_string(test.param.rule)};
                           std::erase(name, '-');
                           return name + std::to_string(static_cast<int>(test.param.counter));
                         });

// What its agent tells of why.
TEST(HealthErrors, TheEndThatSendsWhatIsMalformedIsBlamedAndNotTheCable) {
  HealthWorld world{ring};
  const Link& link = world.truth().link(world.trunk_link());
  world.errors(link.a, sim::ErrorDetail::Malformed, 20);
  world.errors(link.b, sim::ErrorDetail::BufferOverrun, 20);
  world.pass(2min);
  const auto found = world.findings(Rule::ReceiveErrors);
  ASSERT_EQ(found.size(), 2U);
  for (const Finding& finding : found) EXPECT_EQ(finding.blame, finding.peer);
  EXPECT_THAT(found,
              testing::UnorderedElementsAre(
                  testing::Field(&Finding::what, HasSubstr("0 broken on the way, 20 malformed, 0 more")),
                  testing::Field(&Finding::what, HasSubstr("0 malformed, 20 more than there was room"))));
  for (const Finding& finding : found) EXPECT_THAT(finding.advice, HasSubstr("update its firmware"));
}

TEST(HealthErrors, WhatBrokeOnTheWayIsTheCables) {
  HealthWorld world{ring};
  const LinkEnd end = world.end(world.trunk_link());
  world.errors(end, ErrorCounter::RcvErrors, 20);
  world.errors(end, sim::ErrorDetail::Malformed, 20);
  world.pass(2min);
  const auto found = world.findings(Rule::ReceiveErrors);
  ASSERT_EQ(found.size(), 1U);
  EXPECT_THAT(found[0].what, HasSubstr("20 broken on the way, 20 malformed"));
  EXPECT_THAT(found[0].advice, HasSubstr("reseat the plug")) << "no more than half of them are malformed";
}

TEST(HealthErrors, WhatWasThrownAwayIsToldByItsReason) {
  const auto advice = [](auto why) {
    HealthWorld world{ring};
    world.errors(world.end(world.trunk_link()), why, 150);
    world.pass(2min);
    const auto found = world.findings(Rule::XmitDiscards);
    EXPECT_EQ(found.size(), 1U);
    return found.empty() ? std::pair{std::string{}, false}
                         : std::pair{found[0].advice, found[0].blame.has_value()};
  };
  EXPECT_THAT(advice(sim::ErrorDetail::NeighborMtu), testing::Pair(HasSubstr("compare the MTUs"), false));
  EXPECT_THAT(advice(sim::ErrorDetail::Inactive), testing::Pair(HasSubstr("a link that was down"), false));
  EXPECT_THAT(advice(sim::ErrorDetail::Lifetime), testing::Pair(HasSubstr("in time"), true));
  EXPECT_THAT(advice(ErrorCounter::XmitDiscards), testing::Pair(HasSubstr("in time"), true));
}

TEST(HealthErrors, WhatCountersHeldBeforeExplainsNothing) {
  HealthWorld world{ring};
  const LinkEnd end = world.end(world.trunk_link());
  world.errors(end, sim::ErrorDetail::Malformed, 20);
  world.pass(2min);
  world.pass(15min);
  EXPECT_EQ(world.count(), 0U);
  world.errors(end, ErrorCounter::RcvErrors, 20);
  world.pass(1min);
  world.errors(end, ErrorCounter::RcvErrors, 20);
  world.pass(2min);
  const auto found = world.findings(Rule::ReceiveErrors);
  ASSERT_EQ(found.size(), 1U);
  EXPECT_THAT(found[0].what, HasSubstr("20 broken on the way, 0 malformed"));
}

TEST(HealthErrors, AnAgentThatDoesNotTellWhyLeavesItOpen) {
  sim::Options options;
  options.traits.error_details = false;
  HealthWorld world{ring, options};
  world.errors(world.end(world.trunk_link()), sim::ErrorDetail::Malformed, 20);
  world.pass(2min);
  const auto found = world.findings(Rule::ReceiveErrors);
  ASSERT_EQ(found.size(), 1U);
  EXPECT_THAT(found[0].what, testing::Not(HasSubstr("malformed")));
}

TEST(HealthErrors, WhatALinkThrewAwayWhileItWasDownIsNotTheOtherEndsFault) {
  HealthWorld world{ring};
  world.errors(world.end(world.trunk_link()), ErrorCounter::XmitDiscards, 1000);
  world.cut(world.trunk_link());
  world.pass(1min);
  world.mend(world.trunk_link());
  world.pass(2min);
  EXPECT_EQ(world.count(Rule::XmitDiscards), 0U);
  EXPECT_EQ(world.count(Rule::LinkDowned), 1U);
}

TEST(HealthErrors, WhatWasThrownAwayWhileTheSwitchAcrossWasOffIsNotItsFault) {
  HealthWorld world{ring};
  const Link& link = world.truth().link(world.trunk_link());
  world.fabric().kill(link.b.node, world.ps());
  world.errors(link.a, ErrorCounter::XmitDiscards, 1000);
  world.pass(2min);
  world.errors(link.a, ErrorCounter::XmitDiscards, 65'000);
  world.pass(2min);
  world.fabric().revive(link.b.node, world.ps());
  world.pass(5min);
  for (const Finding& finding : world.judge().report()->findings)
    ADD_FAILURE() << to_string(finding.rule) << ' ' << to_string(finding.at) << ' ' << finding.what;
  world.errors(link.a, ErrorCounter::XmitDiscards, 100);
  world.pass(1min);
  EXPECT_EQ(world.count(Rule::XmitDiscards), 1U) << "that is another matter";
}

TEST(HealthErrors, WhatSomebodyElseFoundBrokenAlreadyIsNotThisLinksFault) {
  HealthWorld world{ring};
  world.errors(world.end(world.trunk_link()), ErrorCounter::RcvRemotePhysical, 10'000);
  world.pass(1min);
  EXPECT_EQ(world.count(), 0U);
}

TEST(HealthErrors, ALinkBetweenSwitchesThatFellByItself) {
  HealthWorld world{ring};
  world.cut(world.trunk_link());
  world.pass(2min);
  world.mend(world.trunk_link());
  world.pass(2min);
  const auto found = world.findings(Rule::LinkDowned);
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].sureness, Sureness::Likely);
  EXPECT_THAT(found[0].what, HasSubstr("went down once within 125 min"));
}

TEST(HealthErrors, ALinkThatWasDisabledDidNotFall) {
  HealthWorld world{ring};
  const LinkEnd end = world.end(world.trunk_link());
  world.set_physical(end, PhysState::Disabled);
  world.pass(2min);
  world.set_physical(end, PhysState::Polling);
  world.pass(5min);
  EXPECT_EQ(world.count(), 0U);
}

TEST(HealthErrors, ALinkThatTheRegulationKeepsOffDidNotFall) {
  HealthWorld world{ring};
  const LinkIndex link = world.trunk_link();
  world.judge().will({link_ref(world.truth(), world.truth().link(link))});
  world.cut(link);
  world.pass(2min);
  world.mend(link);
  world.pass(2min);
  world.judge().will({});
  world.pass(5min);
  EXPECT_EQ(world.count(), 0U);
}

TEST(HealthErrors, AHostThatIsStartedAnewIsNoBadLink) {
  HealthWorld world{ring};
  for (int i = 0; i < 2; ++i) {
    world.cut(world.host_link());
    world.pass(2min);
    world.mend(world.host_link());
    world.pass(2min);
  }
  EXPECT_EQ(world.count(), 0U);
}

TEST(HealthErrors, ALinkThatFlaps) {
  HealthWorld world{ring};
  world.fabric().flap(world.host_link(), {.down = 10s, .up = 50s, .times = 3}, world.ps());
  world.pass(5min);
  const auto found = world.findings(Rule::LinkFlaps);
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].sureness, Sureness::Sure);
  EXPECT_THAT(found[0].what, HasSubstr("went down 3 times within 12 min"));
  EXPECT_EQ(world.count(), 1U) << "what flaps is not told of a second time as fallen";
}

TEST(HealthErrors, OneFallLessOrSlowerOnesAreNoFlaps) {
  HealthWorld world{ring};
  world.fabric().flap(world.host_link(), {.down = 10s, .up = 50s, .times = 2}, world.ps());
  world.pass(5min);
  EXPECT_EQ(world.count(), 0U);
  world.pass(15min);
  world.fabric().flap(world.host_link(), {.down = 10s, .up = 7min, .times = 3}, world.ps());
  world.pass(25min);
  EXPECT_EQ(world.count(), 0U);
}

TEST(HealthErrors, CountersThatAreFull) {
  sim::Options narrow;
  narrow.traits.extended_errors = false;
  HealthWorld world{ring, narrow};
  const LinkEnd end = world.end(world.trunk_link());
  world.errors(end, ErrorCounter::LinkRecovers, 254);
  world.pass(1min);
  EXPECT_EQ(world.count(Rule::FullCounters), 0U);
  world.errors(end, ErrorCounter::LinkRecovers, 1);
  world.pass(1min);
  const auto found = world.findings(Rule::FullCounters);
  ASSERT_EQ(found.size(), 1U);
  EXPECT_THAT(found[0].what, HasSubstr("link_recovers"));
}

TEST(HealthErrors, OfAPortWithoutACableNoCounterIsFull) {
  sim::Options narrow;
  narrow.traits.extended_errors = false;
  HealthWorld world{ring, narrow};
  world.errors(world.end(world.trunk_link()), ErrorCounter::XmitDiscards, 70'000);
  world.cut(world.trunk_link());
  world.pass(2min);
  EXPECT_EQ(world.count(Rule::FullCounters), 0U);
  world.mend(world.trunk_link());
  world.pass(2min);
  EXPECT_EQ(world.count(Rule::FullCounters), 1U);
}

TEST(HealthErrors, RulesThatNobodyWantsToHearOf) {
  Options options;
  options.off = {Rule::LinkRecovery};
  HealthWorld world{ring, {}, options};
  world.errors(world.end(world.trunk_link()), ErrorCounter::LinkRecovers, 100);
  world.pass(1min);
  EXPECT_EQ(world.count(), 0U);
}

}  // namespace
}  // namespace heddle::health
