#include "sim/scenario_player.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "flow_fixture.h"

namespace heddle::sim {
namespace {

Scenario scenario(std::string_view text) {
  auto parsed = parse_scenario(text, "t.toml");
  EXPECT_TRUE(parsed) << parsed.error().message;
  return *parsed;
}

/// A fabric with a player.
struct Stage : FlowBench {
  explicit Stage(const char* spec) : FlowBench(spec) { plane.set_schedule(&player); }
  void play(std::string_view text) {
    const auto added = player.add(scenario(text));
    EXPECT_TRUE(added) << added.error().message;
  }
  [[nodiscard]] std::uint64_t sent(std::size_t host, Picoseconds at) {
    return plane.read(hosts[host], at).xmit_data * 4;
  }

  ScenarioPlayer player{fabric.description()};
};

constexpr std::uint64_t half_rate = 12'500'000'000;  // bytes/s

TEST(ScenarioPlayer, APhaseStartsAndEndsOnTime) {
  Stage s(one_switch);
  s.play("[[phase]]\npattern = \"neighbour\"\nload = 0.5\nstart = \"2s\"\nlength = \"3s\"\n");
  EXPECT_EQ(s.sent(0, 2_s), 0U);
  EXPECT_EQ(s.sent(0, 3_s), half_rate);
  EXPECT_EQ(s.sent(0, 10_s), 3 * half_rate);
  EXPECT_EQ(s.plane.figures(10_s).flows, 0U);
  EXPECT_EQ(s.plane.next_event(), std::nullopt);
}

TEST(ScenarioPlayer, WhatIsPostponedKeepsItsLengthAndItsCourse) {
  Stage s(one_switch);
  s.play(
      "[[phase]]\npattern = \"neighbour\"\nload = 0.5\nstart = \"2s\"\nlength = \"3s\"\nrepeat = \"10s\"\n");
  s.plane.postpone(4_s);
  EXPECT_EQ(s.plane.next_event(), 6_s);
  EXPECT_EQ(s.sent(0, 7_s), half_rate);
  s.plane.postpone(1_s);  // while it runs
  EXPECT_EQ(s.sent(0, 12_s), 4 * half_rate);
  EXPECT_EQ(s.plane.next_event(), 17_s);
  EXPECT_EQ(s.plane.figures(12_s).stood_still, 5_s);
}

TEST(ScenarioPlayer, ReadingInBetweenChangesNothing) {
  constexpr const char* text =
      "[[phase]]\nload = 0.9\nchange = \"70ms\"\n[[job]]\ncompute = 0.3\ncommunicate = 0.2\n";
  Stage often("xgft:2;4,4;1,2");
  Stage once("xgft:2;4,4;1,2");
  often.play(text);
  once.play(text);
  for (int i = 1; i < 300; ++i) (void)often.sent(3, Picoseconds{i * 10'000'000'003LL});
  for (std::size_t host = 0; host < 16; ++host) EXPECT_EQ(often.sent(host, 3_s), once.sent(host, 3_s));
  EXPECT_GT(once.sent(0, 3_s), 0U);
}

TEST(ScenarioPlayer, RepeatsAndStopsAfterItsRounds) {
  Stage s(one_switch);
  s.play("[[phase]]\npattern = \"neighbour\"\nload = 0.5\nlength = 1\nrepeat = 4\nrounds = 3\n");
  EXPECT_EQ(s.sent(0, 5_s), 2 * half_rate);
  EXPECT_EQ(s.sent(0, 100_s), 3 * half_rate);
}

TEST(ScenarioPlayer, JobsComputeAndCommunicate) {
  Stage s(one_switch);
  s.play(
      "[[job]]\npattern = \"neighbour\"\nload = 0.5\nstart = 1\ncompute = 2\ncommunicate = 1\niterations = "
      "2\n");
  EXPECT_EQ(s.sent(0, 3_s), 0U);
  EXPECT_EQ(s.sent(0, 4_s), half_rate);
  EXPECT_EQ(s.sent(0, 6_s), half_rate);
  EXPECT_EQ(s.sent(0, 7_s), 2 * half_rate);
  EXPECT_EQ(s.sent(0, 70_s), 2 * half_rate);
}

// Hosts 0 and 1 send to host 3 in one phase, host 2 in another: a third of its link each while both run.
TEST(ScenarioPlayer, SeveralAtOnceShareTheLinks) {
  Stage s(one_switch);
  s.play(R"(
[[phase]]
pattern = "flows"
flows = [{ from = "host-0 *", to = "host-3 *" }, { from = "host-1 *", to = "host-3 *" }]
length = 2

[[phase]]
pattern = "flows"
flows = [{ from = "host-2 *", to = "host-3 *" }]
start = 1
length = 2
)");
  const double link = 25e9;
  EXPECT_NEAR(static_cast<double>(s.sent(0, 9_s)), link / 2 + link / 3, 4);
  EXPECT_NEAR(static_cast<double>(s.sent(2, 9_s)), link / 3 + link, 4);
  EXPECT_NEAR(static_cast<double>(s.plane.read(s.hosts[3], 9_s).rcv_data * 4), 3 * link, 8);
}

TEST(ScenarioPlayer, LoadFollowsTheCurve) {
  Stage s(one_switch);
  s.play(
      "[[phase]]\npattern = \"neighbour\"\ncurve = [[0, 0.0], [1, 1.0]]\ncurve_period = 10\ncurve_step = 1\n"
      "length = 10\n");
  // 0, 0.1, ... 0.9 of 25 GB/s, a second each.
  EXPECT_NEAR(static_cast<double>(s.sent(0, 20_s)), 4.5 * 25e9, 100);
}

TEST(ScenarioPlayer, RandomDestinationsChange) {
  Stage s("xgft:1;32;1");
  s.play("[[phase]]\ndestinations = 2\nchange = \"1s\"\nload = 0.1\n");
  const auto loads = [&](Picoseconds at) {
    std::vector<double> result;
    for (const PortIndex host : s.hosts) result.push_back(s.plane.sent(s.leaf_port(host), at).value());
    return result;
  };
  const auto first = loads(0_ms);
  EXPECT_EQ(loads(999_ms), first);
  EXPECT_NE(loads(1_s), first);
  EXPECT_EQ(s.plane.figures(1_s).flows, 64U);
}

TEST(ScenarioPlayer, ErrorsNameThePlace) {
  const auto fabric = *generate(one_switch);
  ScenarioPlayer player(*fabric);
  const auto error = [&](const char* text) {
    const auto added = player.add(scenario(text));
    return added ? std::string() : added.error().message;
  };
  EXPECT_THAT(error("\n[[phase]]\nname = \"p\"\nhosts = \"nobody*\"\n"),
              testing::AllOf(testing::HasSubstr("t.toml:2"), testing::HasSubstr("\"p\""),
                             testing::HasSubstr("\"nobody*\"")));
  EXPECT_THAT(error("[[phase]]\nhosts = { fraction = 0 }\n"), testing::HasSubstr("leave no host"));
  EXPECT_THAT(error("[[phase]]\npattern = \"flows\"\nflows = [{ from = \"zz\", to = \"*\" }]\n"),
              testing::HasSubstr("\"zz\""));
  EXPECT_EQ(player.next(), std::nullopt);
}

TEST(ScenarioPlayer, TrafficByHand) {
  Stage s(one_switch);
  const auto phase = parse_phase("pattern = \"neighbour\"\nload = 0.5\nname = \"mine\"\n", "command line");
  ASSERT_TRUE(phase);
  s.plane.advance(5_s);
  const auto id = s.player.add(*phase, 5_s);
  ASSERT_TRUE(id);
  auto status = s.player.status(s.plane, 6_s);
  ASSERT_EQ(status.size(), 1U);
  EXPECT_EQ(status[0].name, "mine");
  EXPECT_EQ(status[0].state, PhaseState::Running);
  EXPECT_EQ(status[0].flows, 4U);
  EXPECT_DOUBLE_EQ(status[0].delivered.value(), 400 * gbit);
  EXPECT_EQ(s.sent(0, 7_s), 2 * half_rate);
  ASSERT_TRUE(s.player.remove(*id, s.plane, 8_s));
  EXPECT_EQ(s.sent(0, 20_s), 3 * half_rate);
  EXPECT_THAT(s.player.status(s.plane, 20_s), testing::IsEmpty());
  EXPECT_FALSE(s.player.remove(*id, s.plane, 20_s));
  EXPECT_FALSE(s.player.remove(PhaseId{77}, s.plane, 20_s));
}

TEST(ScenarioPlayer, TheDemoRunsOnAnyFabric) {
  for (const char* spec : {"tree:k=4,n=3", "torus:3x3,hosts=2,links=1", "xgft:1;2;1",
                           "random:switches=9,hosts=30,links=20,ports=12,seed=2"}) {
    Stage s(spec);
    const auto demo = load_scenario("demo");
    ASSERT_TRUE(demo);
    const auto added = s.player.add(*demo);
    ASSERT_TRUE(added) << spec << ": " << added.error().message;
    std::set<double> seen;
    for (int i = 1; i <= 30; ++i)
      seen.insert(s.plane.figures(Picoseconds{i * 5'000'000'000'000LL}).delivered.value());
    EXPECT_GT(seen.size(), 5U) << spec;
  }
}

TEST(HostSelection, NamesWithRanges) {
  EXPECT_TRUE(host_name_matches("n{1..12}", "n7"));
  EXPECT_TRUE(host_name_matches("n{1..12}", "n12"));
  EXPECT_TRUE(host_name_matches("n{1..12}", "n07"));
  EXPECT_FALSE(host_name_matches("n{1..12}", "n13"));
  EXPECT_FALSE(host_name_matches("n{01..12}", "n7"));
  EXPECT_TRUE(host_name_matches("n{01..12}", "n07"));
  EXPECT_TRUE(host_name_matches("r{1..2}n{3..4} HCA-*", "r2n3 HCA-1"));
  EXPECT_FALSE(host_name_matches("r{1..2}n{3..4} HCA-*", "r3n3 HCA-1"));
  EXPECT_TRUE(host_name_matches("*{5..5}", "a1b5"));
  EXPECT_TRUE(host_name_matches("a{b}", "a{b}"));
  EXPECT_FALSE(host_name_matches("n{1..99999999999999999999}", "n1"));
  EXPECT_FALSE(host_name_matches("n{1..", "n1"));
}

}  // namespace
}  // namespace heddle::sim
