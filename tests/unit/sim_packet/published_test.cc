// The published experiments as files: all are read, and chapter 6 of the thesis comes out as published.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "qos/analyzer.h"
#include "sim/packet/experiment.h"

namespace heddle::packet {
namespace {

const std::filesystem::path directory{HEDDLE_SOURCE_DIR "/tests/experiments"};

Result<Experiment> read(const std::filesystem::path& path) {
  std::ostringstream text;
  text << std::ifstream{path}.rdbuf();
  return read_experiment(text.str(), path.filename().string());
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
double greatest_deviation(const std::string& file, Cycle warm_up, Cycle measure) {
  auto experiment = read(directory / file);
  EXPECT_TRUE(experiment) << experiment.error().message;
  experiment->warm_up = warm_up;
  experiment->measure = measure;
  const auto site = prepare(*experiment);
  EXPECT_TRUE(site) << site.error().message;
  const auto result = run_point(*experiment, *site, {});
  EXPECT_TRUE(result) << result.error().message;
  const SchedulerConfig& scheduler = experiment->variants.front().plane.switch_scheduler;
  const auto analysis =
      qos::analyze({table(scheduler.high), table(scheduler.low), qos::HighLimit{scheduler.high_limit}},
                   {.grant = scheduler.low_grant, .rounding = scheduler.rounding});
  EXPECT_TRUE(analysis) << analysis.error().message;
  double all = 0;
  for (const Flow& flow : result->measurements.by_sl) all += static_cast<double>(flow.flits);
  EXPECT_GT(all / static_cast<double>(measure) / result->hosts, 0.99);  // of 1 flit/cycle/NIC
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

}  // namespace
}  // namespace heddle::packet
