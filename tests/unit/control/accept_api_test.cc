// GET /v1/accept: the report of what a daemon knows, and that nobody takes what it does not know for a yes.
#include "control/accept_api.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <boost/json/parse.hpp>

#include "base/json_access.h"
#include "base/printable.h"
#include "control/api.h"
#include "fabric/generators.h"
#include "routing/engine.h"
#include "support/still_answers.h"

namespace heddle::control {
namespace {

using testing::HasSubstr;

class AcceptApi : public testing::Test, public Daemon {
 protected:
  AcceptApi() {
    fabric_ = *assign_lids(**generate("tree:k=4,n=2"), 0);
    state_.fabric = fabric_;
    state_.name = [](const Node& node) { return printable(node.description); };
    auto report = std::make_shared<health::Report>();
    report->ports = 64;
    state_.health = report;
    twin_.fabric = twin_.seen = fabric_;
    twin_.tables = std::make_shared<const discovery::TablesRead>(discovery::TablesRead{
        fabric_,
        fabric_,
        routing::route(*fabric_, routing::LinkSet::all(*fabric_), routing::Engine::UpDown, {})->tables,
        Instant{},
        Instant{},
        {}});
  }
  [[nodiscard]] DaemonState state() const override { return state_; }
  [[nodiscard]] TwinParts twin() const override { return twin_; }
  [[nodiscard]] Answers& answers() override { return answers_; }
  [[nodiscard]] Result<Scrape> metrics(const std::map<std::string, std::string>&, bool) override {
    return fail(ErrorCode::Unsupported, "none");
  }
  Result<void> look_at_queues(const std::vector<PortIndex>&, sampling::QueueProbe::Done) override {
    return fail(ErrorCode::Unsupported, "none");
  }

  Response ask(const Query& query = {}) {
    Response answer;
    api_handler (*this)(Request{false, "/v1/accept", query, "", Access::Read},
                        [&](Response given) { answer = std::move(given); });
    return answer;
  }
  boost::json::value report(const Query& query = {}) { return boost::json::parse(body_of(ask(query))); }
  static std::string verdict(const boost::json::value& report, const std::string& part) {
    return text_at(report, "parts." + part + ".verdict");
  }

  std::shared_ptr<const Fabric> fabric_;
  DaemonState state_;
  TwinParts twin_;
  Answers answers_{at_once(), back_at_once()};
};

TEST_F(AcceptApi, EachPartIsJudgedByItself) {
  const auto said = report();
  EXPECT_EQ(verdict(said, "cables"), "not_judged");
  EXPECT_THAT(text_at(said, "parts.cables.summary"), HasSubstr("does not regulate"))
      << "nobody keeps a baseline";
  EXPECT_EQ(verdict(said, "health"), "passed");
  EXPECT_EQ(count_at(said, "parts.health.ports"), 64);
  EXPECT_EQ(verdict(said, "routes"), "passed");
  EXPECT_EQ(verdict(said, "bandwidth"), "passed");
  EXPECT_EQ(count_at(said, "parts.bandwidth.hosts"), 16);
  EXPECT_DOUBLE_EQ(number_at(said, "parts.bandwidth.least_share"), 0.5);
  EXPECT_DOUBLE_EQ(number_at(report({{"least", "80"}}), "parts.bandwidth.least_share"), 0.8);
  EXPECT_FALSE(truth_at(said, "accepted"));
  EXPECT_FALSE(truth_at(said, "judged"));
}

TEST_F(AcceptApi, WhatIsNotKnownIsNoYes) {
  state_.health = nullptr;
  twin_.tables = nullptr;
  const auto said = report();
  for (const char* part : {"cables", "health", "routes", "bandwidth"})
    EXPECT_EQ(verdict(said, part), "not_judged") << part;
}

TEST_F(AcceptApi, AFindingOfHealthIsShownWithItsLines) {
  auto ill = std::make_shared<health::Report>(*state_.health);
  health::Finding finding;
  finding.rule = health::Rule::LinkWidth;
  finding.sureness = health::Sureness::Sure;
  finding.at = fabric_->ref(fabric_->links()[0].a);
  finding.what = "runs at 1x";
  ill->findings.push_back(finding);
  state_.health = ill;
  const auto said = report();
  EXPECT_EQ(verdict(said, "health"), "failed");
  EXPECT_EQ(text_at(said, "parts.health.summary"), "1 sure, 0 likely");
  EXPECT_THAT(array_at(said, "parts.health.details").at(1).as_string().c_str(), HasSubstr("runs at 1x"));
  EXPECT_TRUE(truth_at(said, "judged")) << "what is wrong outweighs what is not known";
}

TEST_F(AcceptApi, RefusesWhatMakesNoSense) {
  for (const char* least : {"101", "-1", "half", "nan"})
    EXPECT_EQ(ask({{"least", least}}).status, 400U) << least;
  state_.fabric = twin_.fabric = nullptr;
  EXPECT_EQ(ask().status, 503U);
}

}  // namespace
}  // namespace heddle::control
