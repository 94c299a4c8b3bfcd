// The published experiments as files: all are read, and chapter 6 of the thesis comes out as published.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "qos/analyzer.h"
#include "sim/packet/experiment.h"
#include "support/places.h"

namespace heddle::packet {
namespace {

const std::filesystem::path directory = test::source_directory() / "tests/experiments";

std::string text_of(const std::filesystem::path& path) {
  std::ostringstream text;
  text << std::ifstream{path}.rdbuf();
  return text.str();
}

Result<Experiment> read(const std::filesystem::path& path) {
  return read_experiment(
      text_of(path), path.filename().string(),
      [](const std::string& file) -> Result<std::string> { return text_of(directory / file); });
}

TEST(Published, AllExperimentsAreRead) {
  std::size_t count = 0;
  for (const auto& entry : std::filesystem::directory_iterator{directory}) {
    if (entry.path().extension() != ".toml") continue;
    const auto experiment = read(entry.path());
    EXPECT_TRUE(experiment) << experiment.error().message;
    ++count;
  }
  EXPECT_GE(count, 30U);
}

qos::ArbTable table(const std::vector<TableEntry>& entries) {
  qos::ArbTable result;
  for (const TableEntry& entry : entries)
    result.push_back({Vl{entry.lane}, static_cast<std::uint8_t>(entry.weight)});
  return result;
}

/// Percentage points between the shares of a run and those that the analyzer gives its tables, at most.
double greatest_deviation(const std::string& file, Cycle warm_up, Cycle measure, std::size_t variant = 0,
                          double least_throughput = 0.99) {
  auto experiment = read(directory / file);
  EXPECT_TRUE(experiment) << experiment.error().message;
  experiment->warm_up = warm_up;
  experiment->measure = measure;
  const auto site = prepare(*experiment);
  EXPECT_TRUE(site) << site.error().message;
  const auto result = run_point(*experiment, *site, {.variant = variant});
  EXPECT_TRUE(result) << result.error().message;
  const SchedulerConfig& scheduler = experiment->variants[variant].plane.switch_scheduler;
  const auto analysis =
      qos::analyze({table(scheduler.high), table(scheduler.low), qos::HighLimit{scheduler.high_limit}},
                   {.grant = scheduler.low_grant, .rounding = scheduler.rounding});
  EXPECT_TRUE(analysis) << analysis.error().message;
  double all = 0;
  for (const Flow& flow : result->measurements.by_sl) all += static_cast<double>(flow.flits);
  EXPECT_GT(all / static_cast<double>(measure) / result->hosts, least_throughput);  // of 1 flit/cycle/NIC
  double greatest = 0;
  for (const qos::VlService& service : analysis->vls) {
    const auto flits = static_cast<double>(result->measurements.by_sl[service.vl.raw()].flits);
    greatest = std::max(greatest, std::abs(100 * flits / all - 100 * service.share.value()));
  }
  return greatest;
}

// Thesis, chapter 6: the shares in k-ary n-trees are within 0.045 percentage points of the analyzer's.
TEST(Published, SharesInTreesAreThoseOfTheAnalyzer) {
  EXPECT_LE(greatest_deviation("thesis-6-tree-4-2.toml", 100'000, 200'000), 0.045);
  EXPECT_LE(greatest_deviation("thesis-6-tree-2-2.toml", 1'000'000, 1'000'000), 0.045);
}

// A crossbar that is twice as fast as its links feeds the output buffers well enough for arbiters to decide
// (Chuang et al., 1999: a speed-up of two emulates output queues). At link rate the round robin over VLs at
// its inputs decides, and VL0, which is to have 45.7 %, gets a quarter.
TEST(Published, SharesNeedACrossbarTwiceAsFastAsTheLinks) {
  constexpr std::size_t one_at_a_time = 1;
  constexpr std::size_t speed_up_two = 3;
  const std::string file = "thesis-6-tree-4-2-queueing.toml";
  EXPECT_LE(greatest_deviation(file, 100'000, 200'000, speed_up_two), 0.045);
  EXPECT_GT(greatest_deviation(file, 20'000, 20'000, one_at_a_time, 0.8), 5);
}

struct ByScheduler {
  std::array<double, 5> share{};    ///< of VO, VI, CL, BE, BK, in %
  std::array<double, 5> latency{};  ///< mean, cycles
};

ByScheduler chapter_4(const Experiment& experiment, const Site& site, std::size_t variant) {
  const auto result = run_point(experiment, site, {.variant = variant, .load = experiment.loads.size() - 1});
  EXPECT_TRUE(result) << result.error().message;
  double all = 0;
  for (const Flow& flow : result->measurements.by_sl) all += static_cast<double>(flow.flits);
  ByScheduler made;
  for (std::size_t sl = 0; sl < made.share.size(); ++sl) {
    const Flow& flow = result->measurements.by_sl[sl];
    made.share[sl] = 100 * static_cast<double>(flow.flits) / all;
    made.latency[sl] = flow.end_to_end.mean();
  }
  return made;
}

// Thesis, chapter 4: under saturation DTable keeps the shares that its table promises; it raises VO's latency
// and lowers CL's against round robin and SBT.
TEST(Published, DTableKeepsItsSharesOnATreeOfOmniPathLikeSwitches) {
  constexpr std::size_t voice = 0;
  constexpr std::size_t controlled = 2;
  auto experiment = read(directory / "thesis-4-tree-24-2.toml");
  ASSERT_TRUE(experiment) << experiment.error().message;
  ASSERT_EQ(experiment->loads.back(), 1);
  experiment->seeds = {17};
  experiment->warm_up = 4000;
  experiment->measure = 5000;
  const auto site = prepare(*experiment);
  ASSERT_TRUE(site) << site.error().message;
  const ByScheduler round_robin = chapter_4(*experiment, *site, 0);
  const ByScheduler sbt = chapter_4(*experiment, *site, 1);
  const ByScheduler dtable = chapter_4(*experiment, *site, 2);
  constexpr std::array wanted{10.0, 30.0, 50.0, 5.0, 5.0};
  for (std::size_t sl = 0; sl < wanted.size(); ++sl) EXPECT_NEAR(dtable.share[sl], wanted[sl], 3);
  EXPECT_GT(dtable.latency[voice], std::max(round_robin.latency[voice], sbt.latency[voice]));
  EXPECT_LT(dtable.latency[controlled], std::min(round_robin.latency[controlled], sbt.latency[controlled]));
}

// Regulation paper: other patterns than uniform keep their throughput until many links are off.
TEST(Published, BitReversalKeepsItsThroughputBelowSaturation) {
  auto experiment = read(directory / "regulation-8x8-2links-dor-bit-reversal.toml");
  ASSERT_TRUE(experiment) << experiment.error().message;
  ASSERT_EQ(experiment->loads[0], 0.2);
  const auto site = prepare(*experiment);
  ASSERT_TRUE(site) << site.error().message;
  std::vector<double> accepted;
  for (const std::size_t variant : {std::size_t{0}, experiment->variants.size() - 1}) {
    const auto result = run_point(*experiment, *site, {.variant = variant});
    ASSERT_TRUE(result) << result.error().message;
    accepted.push_back(static_cast<double>(result->measurements.by_sl[0].flits) /
                       static_cast<double>(result->cycles) / result->hosts);
  }
  EXPECT_GT(accepted[0], 0.17);  // 8 of 64 hosts have nobody to send to
  EXPECT_NEAR(accepted[1], accepted[0], 0.02 * accepted[0]);
}

}  // namespace
}  // namespace heddle::packet
