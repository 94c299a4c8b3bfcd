// VEF traces over the packet network, end to end: the examples of the format to the tick.
#include "heddle/trace_workload.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <string>

#include "support/scratch.h"

namespace heddle::cli {
namespace {

using testing::HasSubstr;

constexpr const char* example =
    "VEF3 19 8 1 0 0 0 1000\n"
    "C0 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18\n"
    "0 0 18 8 4 17 -1\n"
    "1 0 18 8 5 0 0\n"
    "3 18 0 8 6 2 0\n"
    "4 18 0 72 6 2 1\n"
    "5 0 18 8 2 2 3\n"
    "6 0 18 8 2 2 4\n"
    "7 0 17 8 5 2 6\n"
    "8 0 17 8 5 0 7\n";

// A tick is four cycles of 250 ps, and a packet of one flit takes seven through the switch: two ticks, also
// for one that goes out a cycle later behind another.
constexpr const char* network = R"(
fabric = "xgft:1;19;1"
warm_up = 0
measure = 400
[plane]
vls = 2
sl_to_vl = [0, 1]
cycle_ps = 250
flit_bytes = 128
)";

class TraceWorkload : public testing::Test {
 protected:
  std::string file(const std::string& name, const std::string& text) {
    const std::string path = directory_ / name;
    std::ofstream{path} << text;
    return path;
  }
  static std::string trace(const std::string& path, const std::string& more = "") {
    return "[[trace]]\nfile = \"" + path + "\"\n" + more;
  }
  /// The report on all traces, or the error.
  static std::string run(const std::string& traces, const std::string& on = network) {
    const auto experiment = packet::read_experiment(on + traces, "e.toml");
    if (!experiment) return experiment.error().message;
    const auto site = packet::prepare(*experiment);
    if (!site) return site.error().message;
    const auto result = packet::run_point(*experiment, *site, {}, trace_workloads());
    return result ? result->workload : result.error().message;
  }

 private:
  const test::Scratch directory_;
};

// The last two leave at 27 and arrive at 29; every message takes two ticks.
TEST_F(TraceWorkload, TheExampleToTheTick) {
  EXPECT_EQ(run(trace(file("a.vef", example))),
            R"([{"trace":0,"finished":true,"stuck":false,"finish_ns":29.000,"messages":8,"local":0,)"
            R"("bytes":128,"latency_ns":2.000,"latency_max_ns":2.000}])");
}

// The same messages: what waits for nothing but time needs no trigger.
TEST_F(TraceWorkload, TheSameInVef2) {
  const std::string older =
      "VEF2 19 4 1 0 0 0\n"
      "C0 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18\n"
      "0 0 18 8 0 17 -1\n"
      "1 0 18 8 1 0 0\n"
      "2 18 0 8 2 2 0\n"
      "3 0 17 8 2 2 2\n";
  const std::string report = run(trace(file("a.vef", older)));
  EXPECT_THAT(report, HasSubstr(R"("finished":true,"stuck":false,"finish_ns":27.000,"messages":4)"));
}

TEST_F(TraceWorkload, SeveralAtOnceEachFromItsStart) {
  const std::string path = file("a.vef", example);
  const std::string report = run(trace(path) + trace(path, "start = 40\nsl = 1\n"));
  EXPECT_THAT(report, HasSubstr(R"({"trace":0,"finished":true,"stuck":false,"finish_ns":29.000,)"));
  EXPECT_THAT(report, HasSubstr(R"({"trace":1,"finished":true,"stuck":false,"finish_ns":69.000,)"));
}

// All tasks at one host: nothing enters the network, and a tick passes each time. 0 and 1 arrive at 18, 3 and
// 4 at 21, 5 and 6 at 24; 7 and 8 leave two ticks after 6, at 25.
TEST_F(TraceWorkload, MessagesWithinAHostTakeTheirFixedTime) {
  std::string mapping;
  for (int task = 0; task < 19; ++task) mapping += "3\n";
  const std::string path = file("a.vef", example);
  const std::string report = run(trace(path, "mapping = \"" + file("tasks", mapping) + "\"\n"));
  EXPECT_THAT(report, HasSubstr(R"("finish_ns":26.000,"messages":8,"local":8)"));
}

TEST_F(TraceWorkload, BackgroundTrafficMakesItLate) {
  const std::string background =
      "[[traffic]]\nrate = 0.9\nmessage = 1280\npattern = \"incast\"\nhot = [18]\n";
  const std::string report = run(background + trace(file("a.vef", example)));
  EXPECT_THAT(report, HasSubstr(R"("messages":)"));
  EXPECT_THAT(report, testing::Not(HasSubstr(R"("finish_ns":29.000)")));
}

TEST_F(TraceWorkload, RubbishIsRefusedWithFileLineAndField) {
  std::string text = example;
  text.replace(text.find("3 18 0 8 6"), 10, "3 18 0 x 6");
  EXPECT_THAT(run(trace(file("bad.vef", text))), HasSubstr("bad.vef:5: length is \"x\""));
  EXPECT_THAT(run(trace(file("short.vef", "VEF3 19\n"))), HasSubstr("short.vef:1: "));
  EXPECT_THAT(run(trace("/nowhere.vef")), HasSubstr("/nowhere.vef"));
  const std::string path = file("a.vef", example);
  EXPECT_THAT(run(trace(path, "mapping = \"spiral\"\n")), HasSubstr("spiral"));
  EXPECT_THAT(run(trace(path, "mapping = \"" + file("tasks", "99\n") + "\"\n")), HasSubstr("tasks:1: "));
}

}  // namespace
}  // namespace heddle::cli
