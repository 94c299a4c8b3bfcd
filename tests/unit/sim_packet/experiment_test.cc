#include "sim/experiment/experiment.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <string>

#include "routing/lft_dump.h"
#include "sim/experiment/points.h"
#include "sim/experiment/results.h"
#include "support/scratch.h"

namespace heddle::packet {
namespace {

using testing::HasSubstr;

constexpr const char* small = R"(
title = "small"
fabric = "tree:k=2,n=2"
warm_up = 500
measure = 1000
seeds = 3
loads = [0.1, 0.4]
[plane]
vls = 2
sl_to_vl = [0, 1]
flit_bytes = 8
mtu = 64
buffers = { input = 1024, output = 1024, host = 1024 }
[[traffic]]
name = "VO"
part = 0.5
message = 64
[[traffic]]
name = "BE"
sl = 1
pattern = "neighbour"
part = 0.5
message = 32
[[variant]]
name = "RR"
[[variant]]
name = "DTable"
scheduler = { discipline = "dtable", table = [[0, 4], [1, 2]] }
)";

TEST(Experiment, IsTheSameOnAnyNumberOfThreads) {
  const auto experiment = read_experiment(small, "e.toml");
  ASSERT_TRUE(experiment) << experiment.error().message;
  EXPECT_EQ(experiment->points(), 12U);
  const auto site = prepare(*experiment);
  ASSERT_TRUE(site) << site.error().message;
  std::size_t seen = 0;
  const auto one = run_all(*experiment, *site, 1, [&](std::size_t, std::size_t) { ++seen; });
  const auto three = run_all(*experiment, *site, 3, {});
  ASSERT_TRUE(one) << one.error().message;
  ASSERT_TRUE(three);
  EXPECT_EQ(seen, 12U);
  EXPECT_EQ(results_json(*experiment, *one), results_json(*experiment, *three));
  EXPECT_EQ(runs_csv(*experiment, *one), runs_csv(*experiment, *three));
  const std::string summary = summary_csv(*experiment, *one);
  EXPECT_THAT(summary, HasSubstr("\nDTable,0.4,1,BE,3,"));
  EXPECT_EQ(std::ranges::count(summary, '\n'), 1 + 2 * 2 * 2);
  EXPECT_THAT(gnuplot_script(*experiment), HasSubstr("summary.csv"));
}

// A ring without a rule stops; which of the runs did is said, and nothing of those that carry something.
TEST(Experiment, RunsThatStandStillAreTold) {
  const auto experiment = read_experiment(R"(
fabric = "torus:8,hosts=1,links=1"
routing = "dor"
warm_up = 5000
measure = 1000
loads = [0.01, 1.0]
[plane]
vls = 2
flit_bytes = 64
mtu = 256
buffers = { input = 512, output = 512, host = 512 }
[[traffic]]
name = "all"
pattern = "tornado"
message = 256
part = 1
[[variant]]
name = "no rule"
[[variant]]
name = "date line"
ring_rule = "date-line"
)",
                                          "e.toml");
  ASSERT_TRUE(experiment) << experiment.error().message;
  const auto site = prepare(*experiment);
  ASSERT_TRUE(site) << site.error().message;
  const auto results = run_all(*experiment, *site, 1, {});
  ASSERT_TRUE(results) << results.error().message;
  const std::string told = standstills(*experiment, *results);
  EXPECT_EQ(std::ranges::count(told, '\n'), 1);
  EXPECT_THAT(told,
              testing::StartsWith("no rule, load 1, seed 1: nothing arrived in 1000 measured cycles, and "));
}

TEST(Experiment, LinksCloseAndTrafficGoesRound) {
  std::string text = small;
  text += "[[link_change]]\nat = 700\nlink = \"leaf-0/3\"\n";
  const auto experiment = read_experiment(text, "e.toml");
  ASSERT_TRUE(experiment) << experiment.error().message;
  const auto site = prepare(*experiment);
  ASSERT_TRUE(site) << site.error().message;
  const auto result = run_point(*experiment, *site, {});
  ASSERT_TRUE(result) << result.error().message;
  const Totals& t = result->totals;
  EXPECT_EQ(t.unroutable, 0U);
  EXPECT_EQ(t.injected, t.delivered + t.broken + t.dropped() + result->in_flight);
  EXPECT_GT(t.delivered, 50U);
}

/// What comes to hosts of a 3x3 torus in 2,000 cycles, with so many links of each trunk of three off.
std::uint64_t carried_with_closed(unsigned per_trunk) {
  const std::string text = fmt::format(
      "fabric = \"torus:3x3,hosts=4,links=3\"\nrouting = \"dor\"\nwarm_up = 0\nmeasure = 2000\n"
      "[plane]\nvls = 2\nring_rule = \"date-line\"\n"
      "[[traffic]]\nmessage = 64\npart = 1\n[[variant]]\nname = \"x\"\nclosed_per_trunk = {}\n",
      per_trunk);
  const auto experiment = read_experiment(text, "e.toml");
  EXPECT_TRUE(experiment) << experiment.error().message;
  const auto site = prepare(*experiment);
  EXPECT_TRUE(site) << site.error().message;
  const auto result = run_point(*experiment, *site, {});
  EXPECT_TRUE(result) << result.error().message;
  EXPECT_EQ(result->totals.unroutable + result->totals.dropped() + result->totals.broken, 0U);
  return result->totals.delivered;
}

TEST(Experiment, SoManyLinksOfEachTrunkAreOff) {
  const std::uint64_t one_off = carried_with_closed(1);
  EXPECT_GT(carried_with_closed(0), one_off);
  const std::uint64_t two_off = carried_with_closed(2);
  EXPECT_GT(one_off, two_off);
  EXPECT_GT(two_off, 0U);
  EXPECT_EQ(carried_with_closed(3), two_off);  // never the last one
}

TEST(Experiment, WrongFilesAreRefusedWithLineAndKey) {
  const auto error = [](const std::string& text) {
    const auto read = read_experiment(text, "e.toml");
    return read ? "no error" : read.error().message;
  };
  EXPECT_THAT(error("title = "), HasSubstr("e.toml:1"));
  EXPECT_THAT(error("fabric = \"tree:k=2,n=2\"\n"), HasSubstr("traffic: there is none"));
  EXPECT_THAT(error("fabric = \"x\"\nspeed = 3\n[[traffic]]\nrate = 1\n"),
              HasSubstr("e.toml:2: speed: is not a key"));
  EXPECT_THAT(error("fabric = \"x\"\n[[traffic]]\nrate = 7\n"),
              HasSubstr("e.toml:3: rate: must be a number from 0"));
  EXPECT_THAT(error("fabric = \"x\"\n[plane]\nmodel = \"tube\"\n[[traffic]]\nrate = 1\n"),
              HasSubstr("e.toml:3: model: must be one of \"infiniband\", \"omni-path\""));
  EXPECT_THAT(error("fabric = \"x\"\n[[traffic]]\npattern = \"spiral\"\nrate = 1\n"),
              HasSubstr("is no pattern"));
  EXPECT_THAT(error("fabric = \"x\"\n[[traffic]]\nsl = 1\n"), HasSubstr("either rate or part"));
}

TEST(Experiment, TablesComeFromADumpAsOpenSmWritesIt) {
  const auto by_engine = read_experiment(small, "e.toml");
  const auto site = prepare(*by_engine);
  ASSERT_TRUE(site) << site.error().message;
  const auto graph = *routing::SwitchGraph::make(*site->fabric);
  const test::Scratch directory;
  const std::string file = directory / "lfts.dump";
  std::ofstream{file} << routing::write_lft_dump(*site->fabric, graph, site->programming.forwarding);
  const auto from_dump = read_experiment("lfts = \"" + file + "\"\n" + small, "e.toml");
  ASSERT_TRUE(from_dump) << from_dump.error().message;
  const auto same = prepare(*from_dump);
  ASSERT_TRUE(same) << same.error().message;
  EXPECT_EQ(same->programming.forwarding, site->programming.forwarding);
  const auto one = run_point(*by_engine, *site, {});
  const auto two = run_point(*from_dump, *same, {});
  ASSERT_TRUE(one && two);
  EXPECT_EQ(one->totals.events, two->totals.events);

  const auto error = [&](const std::string& more) {
    const auto read = read_experiment("lfts = \"" + file + "\"\n" + more, "e.toml");
    return read ? "no error" : read.error().message;
  };
  EXPECT_THAT(error(std::string("routing = \"dor\"\n") + small), HasSubstr("e.toml:2: routing: "));
  EXPECT_THAT(error(std::string(small) + "[[link_change]]\nlink = \"leaf-0/3\"\nreroute = true\n"),
              HasSubstr("reroute: "));
  std::ofstream{file} << "rubbish\n";
  EXPECT_THAT(prepare(*from_dump).error().message, HasSubstr("lfts.dump:1: "));
}

TEST(Experiment, TheInsideOfSwitchesMayDifferByVariant) {
  const std::string text = std::string(small) + R"(
[[variant]]
name = "fast"
model = "omni-path"
mport_speed = 3
central_speed = 4
output_arbiter = "one"
virtual_allocation = "blind"
allocation_retry = 16
sl_mtu = [64, 20]
)";
  const auto experiment = read_experiment(text, "e.toml");
  ASSERT_TRUE(experiment) << experiment.error().message;
  const DataPlane& fast = experiment->variants[2].plane;
  EXPECT_EQ(fast.mport_speed, 3);
  EXPECT_EQ(fast.central_speed, 4);
  EXPECT_EQ(fast.output_arbiter, OutputArbiter::One);
  EXPECT_EQ(fast.virtual_allocation, VirtualAllocation::Blind);
  EXPECT_EQ(fast.allocation_retry, 16);
  EXPECT_EQ(fast.sl_mtu[0], 8);
  EXPECT_EQ(fast.sl_mtu[1], 3);
  EXPECT_EQ(experiment->variants[0].plane.sl_mtu[1], 0);
  EXPECT_THAT(read_experiment(text + "crossbar_speed = 9\n", "e.toml").error().message,
              HasSubstr("crossbar_speed: must be a whole number from 1 to 8"));
}

constexpr const char* bases = R"(
[planes.fast]
crossbar_speed = 2
delays = { flight = 7 }
[planes.other]
model = "omni-path"
central_speed = 4
)";

// Switches are said once, for many experiments; what an experiment says itself goes before.
TEST(Experiment, PlanesAreBasedOnWhatIsIncluded) {
  std::string text = "include = \"switches.toml\"\n" + std::string(small);
  text.replace(text.find("[plane]\n"), 8, "[plane]\nbase = \"fast\"\n");
  text += "[[variant]]\nname = \"hierarchy\"\nbase = \"other\"\ncentral_speed = 3\ncrossbar_speed = 1\n";
  const auto included = [](const std::string& file) -> Result<std::string> {
    if (file == "switches.toml") return std::string{bases};
    return fail(ErrorCode::NotFound, file);
  };
  const auto experiment = read_experiment(text, "e.toml", included);
  ASSERT_TRUE(experiment) << experiment.error().message;
  EXPECT_EQ(experiment->variants[0].plane.crossbar_speed, 2);
  EXPECT_EQ(experiment->variants[0].plane.delays.flight, 7);
  EXPECT_EQ(experiment->variants[0].plane.vls, 2);
  EXPECT_EQ(experiment->variants[2].plane.model, SwitchModel::OmniPath);
  EXPECT_EQ(experiment->variants[2].plane.central_speed, 3);

  EXPECT_THAT(read_experiment(text, "e.toml").error().message, HasSubstr("nothing can be included here"));
  const auto circle = [&](const std::string&) -> Result<std::string> { return text; };
  EXPECT_THAT(read_experiment(text, "e.toml", circle).error().message,
              HasSubstr("switches.toml includes another file; only one may"));
  const auto error = [&](const std::string& shared) {
    const auto read =
        read_experiment(text, "e.toml", [&](const std::string&) -> Result<std::string> { return shared; });
    return read ? "no error" : read.error().message;
  };
  EXPECT_THAT(error("[planes.fast]\ncrossbar_sped = 2\n"),
              HasSubstr("switches.toml:2: crossbar_sped: is not"));
  EXPECT_THAT(error("loads = [1]\n[planes.fast]\n[planes.other]\n"),
              HasSubstr("switches.toml:1: loads: is not a key here"));
  EXPECT_THAT(error("[planes.other]\n"), HasSubstr("e.toml:10: base: there is no [planes.fast]"));
}

// The thesis' chapter 5: three SLs share what the others leave of the total.
TEST(Experiment, WhatIsLeftOfTheLoadIsDividedAsTheFileSays) {
  const auto experiment = read_experiment(R"(
fabric = "xgft:1;8;1"
measure = 20000
loads = [0.5]
[[traffic]]
rate = 0.3
[[traffic]]
sl = 1
rest = 0.25
)",
                                          "e.toml");
  ASSERT_TRUE(experiment) << experiment.error().message;
  const auto result = run_point(*experiment, *prepare(*experiment), {});
  ASSERT_TRUE(result) << result.error().message;
  const auto rate = [&](std::size_t sl) {
    return static_cast<double>(result->measurements.by_sl[sl].generated_flits) / 20000 / result->hosts;
  };
  EXPECT_NEAR(rate(0), 0.3, 0.01);
  EXPECT_NEAR(rate(1), 0.05, 0.005);
}

TEST(Experiment, ServiceLevelsMayHaveSeveralChannels) {
  const std::string text = std::string(small) + R"(
[[variant]]
name = "turns"
sl_to_sc = [[0, 1], [2]]
sc_to_vl = [1, 0, 1]
trunk_routing = "per-message"
)";
  const auto experiment = read_experiment(text, "e.toml");
  ASSERT_TRUE(experiment) << experiment.error().message;
  const DataPlane& turns = experiment->variants[2].plane;
  EXPECT_THAT(turns.sl_turns, testing::ElementsAre(testing::ElementsAre(1, 0), testing::ElementsAre(1)));
  EXPECT_EQ(turns.trunk_routing, TrunkRouting::PerMessage);
  EXPECT_THAT(read_experiment(text + "sc_to_vl = [1]\n", "e.toml").error().message, HasSubstr("e.toml:"));
  const auto error = [](const std::string& more) {
    return read_experiment(std::string(small) + "[[variant]]\nname = \"x\"\n" + more, "e.toml")
        .error()
        .message;
  };
  EXPECT_THAT(error("sl_to_sc = [[0, 3]]\nsc_to_vl = [0]\n"), HasSubstr("SC 3 is not in sc_to_vl"));
  EXPECT_THAT(error("sc_to_vl = [0]\n"), HasSubstr("needs sl_to_sc"));
}

// What is kept of a run gives the same results as the run.
TEST(Experiment, ARunIsReadAsItWasWritten) {
  const auto experiment = read_experiment(small, "e.toml");
  const auto site = prepare(*experiment);
  auto result = run_point(*experiment, *site, {.variant = 1, .load = 1, .seed = 2});
  ASSERT_TRUE(result) << result.error().message;
  result->workload = R"([{"trace":0}])";
  const std::string line = write_point(*result);
  const auto read = read_point(line);
  ASSERT_TRUE(read);
  EXPECT_EQ(write_point(*read), line);
  EXPECT_EQ(read->measurements, result->measurements);
  EXPECT_EQ(results_json(*experiment, {&*read, 1}), results_json(*experiment, {&*result, 1}));
  EXPECT_EQ(runs_csv(*experiment, {&*read, 1}), runs_csv(*experiment, {&*result, 1}));

  // Cut off or changed anywhere, it is no run.
  for (std::size_t at = 0; at < line.size(); at += 7) {
    EXPECT_FALSE(read_point(line.substr(0, at)));
    std::string changed = line;
    changed[at] = changed[at] == '1' ? '2' : '1';
    EXPECT_FALSE(read_point(changed)) << at;
  }
}

TEST(Experiment, EstimatesAreStudents) {
  const std::vector<double> values{1, 2, 3};
  const Estimate of_three = estimate(values);
  EXPECT_DOUBLE_EQ(of_three.mean, 2);
  EXPECT_NEAR(of_three.half_width, 4.303 / std::sqrt(3.0), 1e-9);
  EXPECT_EQ(estimate({values.data(), 1}).half_width, 0);
}

}  // namespace
}  // namespace heddle::packet
