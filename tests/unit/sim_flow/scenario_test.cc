#include "sim/scenario.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include "base/random.h"
#include "sim/scenario_values.h"

namespace heddle::sim {
namespace {

constexpr Picoseconds second{1'000'000'000'000};

std::string error_of(std::string_view text) {
  const auto parsed = parse_scenario(text, "t.toml");
  return parsed ? std::string("no error") : parsed.error().message;
}

TEST(Scenario, ReadsAPhase) {
  const auto scenario = parse_scenario(R"(
seed = 5
[[phase]]
name = "exchange"
pattern = "hotspot"
load = 0.6
hosts = { names = ["n{1..4}", "x*"], part = [0.25, 1], fraction = 0.5 }
to = "n1"
sl = 3
start = "1.5s"
length = "250ms"
repeat = 2
rounds = 7
change = "50ms"
destinations = 3
hot = 0.2
)",
                                       "t.toml");
  ASSERT_TRUE(scenario) << scenario.error().message;
  const Phase& phase = scenario->phases.at(0);
  EXPECT_EQ(phase.name, "exchange");
  EXPECT_EQ(phase.pattern, Pattern::Hotspot);
  EXPECT_EQ(phase.load, 0.6);
  EXPECT_THAT(phase.hosts.names, testing::ElementsAre("n{1..4}", "x*"));
  EXPECT_EQ(phase.hosts.part, std::pair(0.25, 1.0));
  EXPECT_EQ(phase.hosts.fraction, 0.5);
  EXPECT_THAT(phase.to->names, testing::ElementsAre("n1"));
  EXPECT_EQ(phase.sl, Sl{3});
  EXPECT_EQ(phase.start, second * 3 / 2);
  EXPECT_EQ(phase.length, second / 4);
  EXPECT_EQ(phase.repeat, second * 2);
  EXPECT_EQ(phase.rounds, 7U);
  EXPECT_EQ(phase.change, second / 20);
  EXPECT_EQ(phase.destinations, 3U);
  EXPECT_EQ(phase.hot, 0.2);
  EXPECT_EQ(phase.place, "t.toml:3");
}

TEST(Scenario, AJobComputesThenCommunicates) {
  const auto scenario =
      parse_scenario("[[job]]\nstart = 10\ncompute = 20\ncommunicate = 5\niterations = 3\n", "t.toml");
  ASSERT_TRUE(scenario) << scenario.error().message;
  const Phase& phase = scenario->phases.at(0);
  EXPECT_EQ(phase.pattern, Pattern::AllToAll);
  EXPECT_EQ(phase.start, second * 30);
  EXPECT_EQ(phase.length, second * 5);
  EXPECT_EQ(phase.repeat, second * 25);
  EXPECT_EQ(phase.rounds, 3U);
}

TEST(Scenario, CurvesAreStraightBetweenPointsAndComeRound) {
  const auto scenario = parse_scenario(
      "[[phase]]\ncurve = [[0.0, 0.2], [0.5, 1.0], [1, 0.2]]\ncurve_period = \"100s\"\ncurve_step = 1\n",
      "t.toml");
  ASSERT_TRUE(scenario) << scenario.error().message;
  const LoadCurve& curve = scenario->phases.at(0).curve;
  EXPECT_DOUBLE_EQ(curve.at(second * 0), 0.2);
  EXPECT_DOUBLE_EQ(curve.at(second * 25), 0.6);
  EXPECT_DOUBLE_EQ(curve.at(second * 50), 1);
  EXPECT_DOUBLE_EQ(curve.at(second * 175), 0.6);
  EXPECT_DOUBLE_EQ(LoadCurve{}.at(second), 1);
}

TEST(Scenario, ErrorsNameFileLineAndKey) {
  using testing::HasSubstr;
  EXPECT_THAT(error_of("[[phase]]\n\nlaod = 1\n"), testing::AllOf(HasSubstr("t.toml:3"), HasSubstr("laod")));
  EXPECT_THAT(error_of("[[phase]]\nload = 1.5\n"), testing::AllOf(HasSubstr("t.toml:2"), HasSubstr("load")));
  EXPECT_THAT(error_of("[[phase]]\nload = nan\n"), HasSubstr("load must be a number from 0 to 1"));
  EXPECT_THAT(error_of("[[phase]]\nload = \"1\"\n"), HasSubstr("load must be"));
  EXPECT_THAT(error_of("[[phase]]\npattern = \"unifrom\"\n"), HasSubstr("pattern must be uniform, "));
  EXPECT_THAT(error_of("[[phase]]\nsl = 16\n"), HasSubstr("sl must be a whole number from 0 to 15"));
  EXPECT_THAT(error_of("[[phase]]\nstart = \"3 weeks\"\n"), HasSubstr("start must be a time"));
  EXPECT_THAT(error_of("[[phase]]\nstart = -1\n"), HasSubstr("start must be a time"));
  EXPECT_THAT(error_of("[[phase]]\nlength = \"1us\"\n"), HasSubstr("length must be a time"));
  EXPECT_THAT(error_of("[[phase]]\nrepeat = \"1s\"\n"), HasSubstr("repeat needs a length"));
  EXPECT_THAT(error_of("[[phase]]\nlength = 2\nrepeat = 1\n"), HasSubstr("repeat needs a length"));
  EXPECT_THAT(error_of("[[phase]]\nrounds = 1\n"), HasSubstr("rounds needs repeat"));
  EXPECT_THAT(error_of("[[phase]]\nhosts = { fractoin = 1 }\n"), HasSubstr("fractoin"));
  EXPECT_THAT(error_of("[[phase]]\nhosts = { part = [1, 0] }\n"), HasSubstr("part must be two numbers"));
  EXPECT_THAT(error_of("[[phase]]\nhosts = [1]\n"), HasSubstr("hosts must be"));
  EXPECT_THAT(error_of("[[phase]]\npattern = \"tornado\"\nto = \"n1\"\n"), HasSubstr("to must be left out"));
  EXPECT_THAT(error_of("[[phase]]\npattern = \"flows\"\n"), HasSubstr("needs a list of flows"));
  EXPECT_THAT(error_of("[[phase]]\npattern = \"flows\"\nflows = [{from = \"a\"}]\n"),
              HasSubstr("needs from and to"));
  EXPECT_THAT(error_of("[[phase]]\ncurve = \"night\"\n"), HasSubstr("curve must be"));
  EXPECT_THAT(error_of("[[phase]]\ncurve = [[0.5, 1], [0.5, 1]]\n"), HasSubstr("curve must be"));
  EXPECT_THAT(error_of("[[phase]]\ncurve_step = 1\n"), HasSubstr("need a curve"));
  EXPECT_THAT(error_of("[[job]]\ncompute = 1\n"), HasSubstr("needs communicate"));
  EXPECT_THAT(error_of("[phase]\n"), HasSubstr("write [[phase]]"));
  EXPECT_THAT(error_of("seed = -1\n"), HasSubstr("seed must be"));
  EXPECT_THAT(error_of("[[phase]\n"), HasSubstr("t.toml:1"));
  EXPECT_THAT(load_scenario("/no/such/file").error().message, HasSubstr("/no/such/file"));
}

TEST(Scenario, Durations) {
  EXPECT_EQ(parse_duration("90s"), second * 90);
  EXPECT_EQ(parse_duration("2 min"), second * 120);
  EXPECT_EQ(parse_duration("1.5h"), second * 5400);
  EXPECT_EQ(parse_duration("10us"), second / 100'000);
  EXPECT_EQ(parse_duration("31d"), std::nullopt);
  EXPECT_EQ(parse_duration("-1s"), std::nullopt);
  EXPECT_EQ(parse_duration("nan s"), std::nullopt);
  EXPECT_EQ(parse_duration("1e400s"), std::nullopt);
  EXPECT_EQ(parse_duration("s"), std::nullopt);
  EXPECT_EQ(parse_duration(""), std::nullopt);
}

TEST(Scenario, TheDemoIsWellFormed) {
  const auto scenario = load_scenario("demo");
  ASSERT_TRUE(scenario) << scenario.error().message;
  EXPECT_GT(scenario->phases.size(), 3U);
}

TEST(Scenario, PatternNamesComeBack) {
  for (int i = 0; i <= static_cast<int>(Pattern::Flows); ++i) {
    EXPECT_EQ(pattern(to_string(static_cast<Pattern>(i))), static_cast<Pattern>(i));
  }
  EXPECT_EQ(pattern("none"), std::nullopt);
}

constexpr std::string_view seed_text = R"(seed = 1
[[phase]]
name = "a"
pattern = "flows"
flows = [{ from = "n1", to = "n{1..3}", load = 0.5 }]
start = "1s"
length = "1s"
repeat = "2s"
curve = [[0.0, 1.0], [1.0, 0.5]]
[[job]]
hosts = { names = ["*"], part = [0, 1], fraction = 0.5 }
compute = 1
communicate = 1.5
)";

/// Text with pieces lost, doubled, swapped for others and bytes changed.
std::string mutated(Random& random) {
  std::string text(random.chance(0.5) ? seed_text : demo_scenario());
  const auto changes = 1 + random.below(6);
  for (std::uint64_t i = 0; i < changes && !text.empty(); ++i) {
    const std::size_t at = random.below(text.size());
    const std::size_t length = random.below(std::min<std::size_t>(text.size() - at, 20) + 1);
    switch (random.below(4)) {
      case 0:
        text.erase(at, length);
        break;
      case 1:
        text.insert(at, text.substr(random.below(text.size()), length));
        break;
      case 2:
        text[at] = static_cast<char>(random.below(256));
        break;
      default:
        text.insert(
            at, std::vector<std::string>{"[[", "]]", "-", "1e308", "\"", "inf", "{", "99999999999999999999",
                                         "0x", "\n", "=", "..", "nan"}[random.below(13)]);
    }
  }
  return text;
}

TEST(Scenario, MutatedTextIsReadOrRefusedWithAPlace) {
  Random random(7);
  int refused = 0;
  for (int i = 0; i < 3000; ++i) {
    const auto parsed = parse_scenario(mutated(random), "m.toml");
    if (parsed) continue;
    ++refused;
    EXPECT_THAT(parsed.error().message, testing::StartsWith("m.toml:"));
  }
  EXPECT_GT(refused, 1000);
}

}  // namespace
}  // namespace heddle::sim
