/// `heddle accept`: what each part finds, alone, in text, in JSON and as a test report, and how it ends.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <boost/json/parse.hpp>
#include <fstream>
#include <iterator>
#include <map>
#include <vector>

#include "base/json_access.h"
#include "fabric/generators.h"
#include "heddle/command.h"
#include "routing/engine.h"
#include "routing/lft_dump.h"
#include "support/scratch.h"
#include "unit/cli/run_heddle.h"
#include "unit/cli/twin_answer.h"

namespace heddle::cli {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

constexpr const char* accepted_fabric = "tree:k=4,n=2";  // four leaves of four hosts under four spines
constexpr const char* ill =
    R"({"well": false, "ports": 64, "sure": 1, "likely": 0, "findings": [{"sure": "sure", "rule": "link-width",
        "where": "leaf-0/5 -- spine-0/1", "what": "runs at 1x", "advice": "reseat", "blame": null,
        "since_seconds": 60}], "isolate_links": [], "isolated_links": []})";

std::string text_of(const std::string& file) {
  std::ifstream in{file};
  return {std::istreambuf_iterator<char>{in}, {}};
}

/// A running fabric with all as it should be, and what a test changes of it.
class Accept : public testing::Test {
 protected:
  using Parts = std::map<std::string, FakeDaemon::Answer>;

  Parts good() {
    return {{"/v1/fabric", {fabric_text()}},
            {"/v1/baseline/plan", {fabric_text()}},
            {"/v1/health", {R"({"well": true, "ports": 64, "findings": []})"}},
            {"/v1/twin", twin(over(routing::LinkSet::all(*fabric)))}};
  }
  [[nodiscard]] std::string fabric_text() const { return write_ibnetdiscover(*fabric); }

  [[nodiscard]] routing::ForwardingTables over(const routing::LinkSet& active) const {
    return routing::route(*fabric, active, routing::Engine::UpDown, {})->tables;
  }
  [[nodiscard]] FakeDaemon::Answer twin(const routing::ForwardingTables& tables,
                                        boost::json::array unread = {}) const {
    return twin_answer(*fabric, graph, tables, std::vector<double>(fabric->ports().size()),
                       std::move(unread));
  }
  /// Over one spine of four.
  [[nodiscard]] routing::LinkSet one_spine() const {
    routing::LinkSet active = routing::LinkSet::all(*fabric);
    for (std::uint32_t i = 0; i < fabric->links().size(); ++i) {
      const std::string& up = fabric->node(fabric->links()[i].b.node).description;
      const std::string& down = fabric->node(fabric->links()[i].a.node).description;
      for (const std::string& name : {up, down}) {
        if (name.starts_with("spine") && name != "spine-0") active.erase(LinkIndex{i});
      }
    }
    return active;
  }

  static Ran ask(const Parts& answers, std::vector<std::string> arguments = {}) {
    FakeDaemon daemon{answers};
    arguments.insert(arguments.begin(), {"--socket", daemon.path(), "accept"});
    return run_heddle({add_accept_commands}, arguments);
  }
  /// All but this part are as they should be.
  void expect_alone(const Parts& answers, const std::string& part, const std::string& verdict,
                    Status status) {
    FakeDaemon daemon{answers};
    const Ran ran = run_heddle({add_accept_commands}, {"--socket", daemon.path(), "--json", "accept"});
    EXPECT_EQ(ran.status, status) << ran.out << ran.err;
    const auto said = boost::json::parse(ran.out);
    for (const char* each : {"cables", "health", "routes", "bandwidth"}) {
      EXPECT_EQ(text_at(said, std::string{"parts."} + each + ".verdict"), part == each ? verdict : "passed")
          << ran.out;
    }
    EXPECT_FALSE(truth_at(said, "accepted"));
    EXPECT_EQ(truth_at(said, "judged"), status == Status::Failed);
  }

  const test::Scratch directory;
  const std::shared_ptr<const Fabric> fabric = assign_lids(**generate(accepted_fabric), 0).value();
  const routing::SwitchGraph graph = routing::SwitchGraph::make(*fabric).value();
};

TEST_F(Accept, WhatIsAsItShouldBe) {
  const Ran ran = ask(good());
  EXPECT_EQ(ran.status, Status::Done) << ran.err;
  EXPECT_THAT(ran.out,
              AllOf(HasSubstr("cables     passed     32 of 32 cables as planned"),
                    HasSubstr("health     passed     well: 64 ports, nothing found"),
                    HasSubstr("routes     passed     "), HasSubstr("read back 3 min ago"),
                    HasSubstr("bandwidth  passed     each of 16 hosts sends 200.0 Gbit/s to 15 others"),
                    testing::EndsWith("\naccepted\n")));
}

TEST_F(Accept, ACableThatIsElsewhere) {
  Parts answers = good();
  answers["/v1/baseline/plan"] = {"StartDevice,StartPort,EndDevice,EndPort\nleaf-0,5,spine-1,1\n"};
  expect_alone(answers, "cables", "failed", Status::Failed);
  EXPECT_THAT(ask(answers).out,
              HasSubstr("\n    missing     leaf-0/5 -- spine-1/1: leaf-0/5 leads to spine-0/1  (line 2)\n"));
}

TEST_F(Accept, WhatIsIll) {
  Parts answers = good();
  answers["/v1/health"] = {ill};
  expect_alone(answers, "health", "failed", Status::Failed);
  EXPECT_THAT(ask(answers).out,
              AllOf(HasSubstr("health     failed     1 sure, 0 likely\n    sure    link-width"),
                    testing::EndsWith("\nnot accepted\n")));
}

/// A ring of five whose hosts all take the shorter way: what waits for one another closes a circle.
TEST_F(Accept, TablesByWhichBuffersWaitInACircle) {
  const auto ring = assign_lids(**generate("torus:5,hosts=1"), 0).value();
  const auto routes =
      routing::route(*ring, routing::LinkSet::all(*ring), routing::Engine::DimOrder, {}).value();
  Parts answers = good();
  answers["/v1/fabric"] = answers["/v1/baseline/plan"] = {write_ibnetdiscover(*ring)};
  answers["/v1/twin"] =
      twin_answer(*ring, routes.graph, routes.tables, std::vector<double>(ring->ports().size()));
  expect_alone(answers, "routes", "failed", Status::Failed);
  EXPECT_THAT(ask(answers).out, AllOf(HasSubstr("25 paths, 0 broken; a cycle of buffers on one VL"),
                                      HasSubstr("\n    cycle of channel dependencies (deadlock)\n")));
}

TEST_F(Accept, TablesThatLackAnEntry) {
  Parts answers = good();
  auto tables = over(routing::LinkSet::all(*fabric));
  const Lid host = graph.targets()[graph.targets_at(routing::SwitchIndex{3}).back()].base;
  tables.row(routing::SwitchIndex{0})[host.raw()] = no_path.raw();
  answers["/v1/twin"] = twin(tables);
  const Ran ran = ask(answers);
  EXPECT_EQ(ran.status, Status::Failed);
  EXPECT_THAT(ran.out,
              AllOf(HasSubstr("routes     failed     64 paths, 1 broken"), HasSubstr("\n    no path to LID"),
                    HasSubstr("bandwidth  failed"), HasSubstr("\n    4 flows have no way\n")));
}

TEST_F(Accept, TablesThatLeaveCablesIdle) {
  Parts answers = good();
  answers["/v1/twin"] = twin(over(one_spine()));
  expect_alone(answers, "bandwidth", "failed", Status::Failed);
  EXPECT_THAT(ask(answers).out,
              AllOf(HasSubstr("gets less than 50.0 %"), HasSubstr("busiest: leaf-0/5 -- spine-0/1")));
  EXPECT_EQ(ask(answers, {"--least", "40"}).status, Status::Done);
}

TEST_F(Accept, WhatCannotBeAskedIsNoYes) {
  for (const auto& [path, part] : {std::pair{"/v1/baseline/plan", "cables"}, {"/v1/health", "health"}}) {
    Parts answers = good();
    answers[path] = {R"({"error": "not yet"})", 503};
    expect_alone(answers, part, "not_judged", Status::Usage);
  }
  EXPECT_EQ(ask({}).status, Status::Usage);
}

TEST_F(Accept, TablesThatNobodyHasRead) {
  Parts answers = good();
  answers["/v1/twin"] = twin(over(routing::LinkSet::all(*fabric)), {"0x1"});
  const Ran ran = ask(answers);
  EXPECT_EQ(ran.status, Status::Usage);
  EXPECT_THAT(ran.out, AllOf(HasSubstr("routes     not judged 1 switches did not answer"),
                             HasSubstr("not accepted: not all of it could be judged")));
  answers["/v1/twin"] = twin_answer(*fabric, graph, over(routing::LinkSet::all(*fabric)),
                                    std::vector<double>(fabric->ports().size()), {}, true);
  EXPECT_THAT(ask(answers).out,
              HasSubstr("bandwidth  not judged the fabric has changed since its tables were read"));
  // What is wrong outweighs what is not known.
  answers["/v1/health"] = {ill};
  EXPECT_EQ(ask(answers).status, Status::Failed);
}

TEST_F(Accept, AsATestReport) {
  Parts answers = good();
  answers["/v1/health"] = {ill};
  answers.erase("/v1/baseline/plan");
  const std::string file = directory / "report.xml";
  EXPECT_EQ(ask(answers, {"--junit", file}).status, Status::Failed);
  const std::string report = text_of(file);
  EXPECT_THAT(
      report,
      AllOf(HasSubstr("<testsuites>\n<testsuite name=\"cables\" tests=\"1\" failures=\"0\" errors=\"1\">"),
            HasSubstr("<testcase classname=\"health\" name=\"leaf-0/5 -- spine-0/1\">\n"
                      "    <failure type=\"link-width\" message=\"runs at 1x\"/>"),
            HasSubstr("<testcase classname=\"routes\" name=\"every path arrives\"/>"),
            HasSubstr("</testsuite>\n</testsuites>\n")));
  EXPECT_EQ(ask(good(), {"--junit", "/nowhere/report.xml"}).status, Status::Usage);
}

Ran of_file(std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), "accept");
  return run_heddle({add_accept_commands}, arguments);
}

TEST_F(Accept, AFabricInAFile) {
  const Ran ran = of_file({accepted_fabric, "--fabric", accepted_fabric});
  EXPECT_EQ(ran.status, Status::Done) << ran.err;
  EXPECT_THAT(ran.out, AllOf(HasSubstr("health     not asked  "), HasSubstr("tables as updn makes them")));
  EXPECT_EQ(of_file({"torus:2x2,hosts=1", "--fabric", accepted_fabric}).status, Status::Failed);
}

TEST_F(Accept, AFabricInAFileWithItsTables) {
  const std::string file = directory / "fabric.net";
  const std::string lfts = directory / "lfts";
  std::ofstream{file} << fabric_text();
  std::ofstream{lfts} << routing::write_lft_dump(*fabric, graph, over(one_spine()));
  const Ran ran = of_file({file, "--fabric", file, "--lfts", lfts});
  EXPECT_EQ(ran.status, Status::Failed);
  EXPECT_THAT(ran.out, AllOf(HasSubstr("routes     passed"), HasSubstr("bandwidth  failed")));
}

TEST_F(Accept, SaysWhatItNeeds) {
  EXPECT_EQ(of_file({"--fabric", accepted_fabric}).status, Status::Usage);
  EXPECT_EQ(of_file({accepted_fabric, "--lfts", "x"}).status, Status::Usage);
  EXPECT_EQ(of_file({accepted_fabric, "--fabric", accepted_fabric, "--lfts", "x", "--engine", "updn"}).status,
            Status::Usage);
  EXPECT_EQ(of_file({accepted_fabric, "--fabric", "/nowhere"}).status, Status::Usage);
  EXPECT_EQ(of_file({accepted_fabric, "--fabric", accepted_fabric, "--engine", "nue"}).status, Status::Usage);
}

}  // namespace
}  // namespace heddle::cli
