#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

#include "heddle/command.h"
#include "support/golden.h"
#include "support/scratch.h"

namespace heddle::cli {
namespace {

using testing::HasSubstr;

struct Outcome {
  Status status = Status::Done;
  std::string out;
  std::string err;
};

class QosCommand : public testing::Test {
 protected:
  std::string file(const std::string& name, const std::string& text) {
    const std::string path = directory_ / name;
    std::ofstream{path} << text;
    return path;
  }

  /// Configuration A of facts/qos.md 2.
  std::string high_table() {
    std::string text;
    for (int i = 0; i < 16; ++i) {
      text += "0,8\n1," + std::to_string(i < 14 ? 10 : 9) + "\n0," + std::to_string(i < 8 ? 9 : 8) + "\n2," +
              std::to_string(i < 10 ? 7 : 6) + "\n";
    }
    return file("high", text);
  }

  static Outcome run(std::vector<std::string> arguments) {
    std::ostringstream out;
    std::ostringstream err;
    Program program{out, err};
    add_qos_commands(program);
    std::vector<const char*> argv{"heddle", "qos"};
    for (const auto& argument : arguments) argv.push_back(argument.c_str());
    const Status status = program.run(static_cast<int>(argv.size()), argv.data());
    return {status, out.str(), err.str()};
  }

  static void expect_golden_run(const std::string& name, std::vector<std::string> arguments) {
    const auto outcome = run(std::move(arguments));
    EXPECT_EQ(outcome.status, Status::Done) << outcome.err;
    expect_golden("qos/" + name, outcome.out);
  }

  void expect_refused(const std::string& table, const std::string& reason) {
    const auto outcome = run({"analyze", "--high", file("bad", table)});
    EXPECT_EQ(outcome.status, Status::Failed);
    EXPECT_THAT(outcome.err, HasSubstr("/bad:" + reason));
    EXPECT_EQ(outcome.out, "");
  }

 private:
  test::Scratch directory_;
};

TEST_F(QosCommand, AnalyzeConfigurationA) {
  expect_golden_run("analyze_a.txt",
                    {"analyze", "--high", high_table(), "--low", file("low", "3,6\n"), "--rate", "4xEDR"});
}

TEST_F(QosCommand, AnalyzeConfigurationAAsJson) {
  expect_golden_run("analyze_a.json",
                    {"analyze", "--high", high_table(), "--low", file("low", "3:6"), "--json"});
}

TEST_F(QosCommand, AnalyzeByCountedRuns) {
  expect_golden_run("analyze_runs.json", {"analyze", "--high", high_table(), "--low", file("low", "3,6"),
                                          "--runs", "300", "--json"});
}

TEST_F(QosCommand, AnalyzeWithLoadsAndSizes) {
  expect_golden_run("analyze_load.txt",
                    {"analyze", "--high", high_table(), "--low", file("low", "3,6"), "--load", "0=0.1,1=0.2",
                     "--packet-bytes", "0=256,3=4096,2048", "--low-grant", "packet"});
}

TEST_F(QosCommand, ThirtyRunsIfNoNumberIsGiven) {
  const auto outcome = run({"analyze", "--high", file("high", "0,1\n"), "--json", "--runs"});
  EXPECT_EQ(outcome.status, Status::Done) << outcome.err;
  EXPECT_THAT(outcome.out, HasSubstr("\"packets\":30"));
}

TEST_F(QosCommand, DTableOfTheThesis) {
  const std::vector<std::string> arguments{"dtable",
                                           "--n",
                                           "128",
                                           "--gmtu",
                                           "3",
                                           "--k",
                                           "3",
                                           "--w",
                                           "4",
                                           "--sl",
                                           "SL0:distance=2,mtu=64,share=0.33334",
                                           "--sl",
                                           "SL1:distance=4,mtu=128,share=0.33333",
                                           "--sl",
                                           "SL2:distance=4,mtu=192,share=0.33333"};
  expect_golden_run("dtable.txt", arguments);
  auto as_json = arguments;
  as_json.emplace_back("--json");
  expect_golden_run("dtable.json", as_json);
}

TEST_F(QosCommand, DTableOnAPortWithoutDeficits) {
  expect_golden_run("dtable_64.txt",
                    {"dtable", "--n", "64", "--gmtu", "4", "--sl", "VO:distance=4,mtu=64,share=0.25", "--sl",
                     "BE:distance=2,mtu=256,share=0.75"});
}

TEST_F(QosCommand, Design) {
  const auto request = file("request.toml", R"(
[port]
rate = "4xEDR"
[[sl]]
sl = 0
share = 0.6
[[sl]]
sl = 3
share = 0.1
latency_ns = 3500
[[sl]]
sl = 2
share = 0.3
priority = "low"
)");
  const auto lines = run({"design", "--request", request});
  EXPECT_EQ(lines.status, Status::Done) << lines.err;
  EXPECT_THAT(lines.out, HasSubstr("# LimitOfHighPriority"));
  EXPECT_THAT(lines.out, HasSubstr("proved: no tables have a smaller one"));
  EXPECT_THAT(run({"design", "--request", request, "--output", "opensm", "--prefix", "qos_swe"}).out,
              HasSubstr("\nqos_swe_vlarb_high "));
  EXPECT_THAT(run({"design", "--request", request, "--json"}).out, HasSubstr("\"percent\":6E1"));
}

TEST_F(QosCommand, DesignRefusesPrecisely) {
  const auto request = file("request.toml",
                            "port = { rate = \"4xEDR\" }\ndesign = { error = 1e-4 }\n"
                            "[[sl]]\nsl = 0\nshare = 0.6\n[[sl]]\nsl = 2\nshare = 0.3\n"
                            "[[sl]]\nsl = 3\nshare = 0.1\nlatency_ns = 1000\n");
  const auto outcome = run({"design", "--request", request});
  EXPECT_EQ(outcome.status, Status::Failed);
  EXPECT_EQ(outcome.err,
            "heddle: SL 3's bound of 1 us cannot be met together with SL 0's 60 %: best is 2.95 us\n");
  EXPECT_THAT(run({"design", "--request", file("bad", "x = 1\n")}).err,
              HasSubstr("/bad:1: top: unknown key 'x'"));
}

TEST_F(QosCommand, DesignWritesAPlan) {
  const auto request = file("request.toml", "[[sl]]\nsl = 1\nshare = 0.5\n[[sl]]\nsl = 2\nshare = 0.5\n");
  const auto plan = file("plan.json", "old");
  EXPECT_EQ(run({"design", "--request", request, "--plan", plan}).status, Status::Done);
  std::stringstream text;
  text << std::ifstream{plan}.rdbuf();
  EXPECT_THAT(text.str(), testing::StartsWith("{\"qos\":{\"vlarb_high\":[["));
  EXPECT_THAT(text.str(), HasSubstr("\"sl2vl\":[1,0,1,1"));
}

TEST_F(QosCommand, BadTablesNameFileLineAndReason) {
  std::string long_table;
  for (int i = 0; i < 65; ++i) long_table += "0,1\n";
  expect_refused(long_table, "65: more than 64 entries");
  expect_refused("0,1\n15,1\n", "2: VL 15 cannot be in a table");
  expect_refused("0,256\n", "1: weight 256 is above 255");
  expect_refused("", "1: the high table is empty");
  expect_refused("rubbish\n", "1: 'rubbish' is not VL,weight");
  const auto beyond = run({"analyze", "--high", file("bad", "0,1\n4,1\n"), "--vls", "4"});
  EXPECT_THAT(beyond.err, HasSubstr("/bad:2: VL 4 is beyond the port"));
}

TEST_F(QosCommand, BadArguments) {
  const auto high = file("high", "0,1\n");
  EXPECT_EQ(run({"analyze", "--high", high, "--limit", "256"}).status, Status::Usage);
  EXPECT_EQ(run({"analyze"}).status, Status::Usage);
  EXPECT_EQ(run({"analyze", "--high", high, "--rounding", "down"}).status, Status::Usage);
  EXPECT_EQ(run({"analyze", "--high", high, "--runs", "5", "--load", "0=1"}).status, Status::Usage);
  EXPECT_THAT(run({"analyze", "--high", "/nonexistent"}).err, HasSubstr("cannot open /nonexistent"));
  EXPECT_THAT(run({"analyze", "--high", high, "--packet-bytes", "0=x"}).err,
              HasSubstr("'0=x' is not a size"));
  EXPECT_THAT(run({"analyze", "--high", high, "--packet-bytes", "15=64"}).err,
              HasSubstr("'15=64' names no VL"));
  EXPECT_THAT(run({"analyze", "--high", high, "--load", "0"}).err, HasSubstr("'0' is not VL=x"));
  EXPECT_THAT(run({"analyze", "--high", high, "--rate", "fast"}).err, HasSubstr("'fast' is no link rate"));
  EXPECT_THAT(run({"dtable", "--n", "8", "--gmtu", "2", "--sl", "a:distance=2"}).err, HasSubstr("no mtu"));
  EXPECT_THAT(run({"dtable", "--n", "8", "--gmtu", "2", "--sl", "a:colour=2"}).err,
              HasSubstr("'colour' is none of"));
}

/// A plan of four SLs, the last one low.
std::string four_sls() {
  return R"({"qos": {"vlarb_high": [[0, 128], [1, 64], [0, 128], [2, 64]], "vlarb_low": [[3, 64]],
             "high_limit": 4, "sl2vl": [0,1,2,3,0,0,0,0,0,0,0,0,0,0,0,15]}})";
}

TEST_F(QosCommand, TestPutsMeasuredBesidePredicted) {
  const auto outcome = run({"test", file("plan.json", four_sls())});
  EXPECT_EQ(outcome.status, Status::Done) << outcome.err;
  // Limit 4 is 256 packets of 64 bytes: a low turn of 64 after each, so VL3 has a fifth.
  EXPECT_THAT(outcome.out, HasSubstr(" 3   3   20.000 %  20.000 %"));
  EXPECT_THAT(outcome.out, HasSubstr("Largest difference 0.000 percentage points"));
  EXPECT_THAT(outcome.out, HasSubstr("\nib_send_bw --ib-dev=mlx5_0 --sl=3 --port=18518 --size=65536 "
                                     "--duration=30 --report_gbits &\n"));
  EXPECT_THAT(outcome.out,
              HasSubstr("--sl=3 --port=18518 --size=65536 --duration=30 --report_gbits RECEIVER &"));
}

TEST_F(QosCommand, TestOnPortsWithLessTestsWhatFits) {
  const auto outcome =
      run({"test", file("plan.json", four_sls()), "--vls", "2", "--sls", "0,1,2,3", "--entries", "2"});
  EXPECT_EQ(outcome.status, Status::Done) << outcome.err;
  EXPECT_THAT(outcome.out, HasSubstr(" 2   0   "));  // SL 2 shares VL0
}

TEST_F(QosCommand, TestOfADroppedSlMeasuresNothing) {
  const auto outcome = run({"test", file("plan.json", four_sls()), "--sls", "0,15"});
  EXPECT_EQ(outcome.status, Status::Done) << outcome.err;
  EXPECT_THAT(outcome.out, HasSubstr("15  15    0.000 %    0.000 %"));
}

TEST_F(QosCommand, TestRefusesWhatItCannotDo) {
  const auto plan = file("plan.json", four_sls());
  EXPECT_EQ(run({"test", plan, "--name", "nobody"}).status, Status::Usage);
  EXPECT_EQ(run({"test", plan, "--vls", "3"}).status, Status::Usage);
  const auto nobody = run({"test", plan, "--name", "nobody-serves-this", "--from", "a", "--to", "b"});
  EXPECT_EQ(nobody.status, Status::Failed);
  EXPECT_EQ(run({"test", plan, "--from", "nobody"}).status, Status::Failed);
  EXPECT_THAT(run({"test", file("bad.json", "{\n")}).err, HasSubstr("bad.json:2: not JSON"));
}

TEST_F(QosCommand, PushNeedsADaemonAndAPlan) {
  const auto push = run({"push", file("plan.json", four_sls())});
  EXPECT_EQ(push.status, Status::Failed);
  EXPECT_THAT(push.err, HasSubstr("Is it running"));
  EXPECT_EQ(run({"push", "/nonexistent/plan"}).status, Status::Failed);
  EXPECT_EQ(run({"push"}).status, Status::Usage);
}

}  // namespace
}  // namespace heddle::cli
