// POST and GET /v1/drain, on a regulator whose actuator answers nothing: what is asked for, and what stands.
#include "control/drain_api.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <boost/json/parse.hpp>

#include "control/regulation_api.h"
#include "fabric/generators.h"
#include "support/desks.h"
#include "support/scratch.h"
#include "support/still_answers.h"

namespace heddle::control {
namespace {

using testing::HasSubstr;

class Mute final : public regulate::Actuator {
 public:
  [[nodiscard]] unsigned planes() const override { return 1; }
  [[nodiscard]] regulation::Movement movement() const override { return regulation::Movement::Staged; }
  void write_tables(std::optional<unsigned>, const std::vector<LinkRef>&, Instant, Done) override {}
  void migrate(unsigned, Instant, Done) override {}
  void set_links(const std::vector<regulate::LinkOrder>&, Instant, LinksDone) override {}
};

class DrainApi : public testing::Test, public RegulationDesk {
 protected:
  DrainApi() {
    authority::KnownFabric known;
    known.reference = *assign_lids(**generate("xgft:2;2,3;1,3"), 0);
    known.up = routing::LinkSet::all(*known.reference);
    for (const Node& node : known.reference->nodes()) {
      if (node.type == NodeType::Switch) known.present.insert(node.guid);
    }
    regulator_.on_fabric(known, {});
  }
  [[nodiscard]] core::RegulationControl* regulation() override { return &control_; }
  [[nodiscard]] Answers& answers() override { return answers_; }

  Response ask(bool post, const std::string& body = {}) {
    Response answer;
    EXPECT_TRUE(answer_regulation(*this, Request{post, "/v1/drain", {}, body, Access::Change, {}, "uid 0"},
                                  [&](Response given) { answer = std::move(given); }));
    return answer;
  }
  boost::json::array drains() { return boost::json::parse(*ask(false).body).at("drains").as_array(); }

 private:
  test::Scratch directory_;
  std::unique_ptr<journal::Journal> journal_ = journal::open_journal(directory_ / "journal.db", {}).value();
  journal::Scribe scribe_{*journal_, test::at_once()};
  Mute mute_;
  regulate::Regulator regulator_{{}, scribe_, mute_, [](const journal::Event&) {}};
  core::RegulatorControl control_{regulator_, [] { return Instant{}; }};
  Answers answers_{control::at_once(), control::back_at_once()};
};

TEST_F(DrainApi, BeginsAndEnds) {
  EXPECT_TRUE(drains().empty());
  const auto begun =
      ask(true, R"({"what":["spine-1","leaf-0/5"],"reason":"a fan","by":"ann","for_seconds":60})");
  ASSERT_EQ(begun.status, 200U) << *begun.body;
  ASSERT_EQ(drains().size(), 1U);
  const auto drain = drains().front();
  EXPECT_EQ(drain.at("what"), "spine-1, leaf-0/5 -- spine-2/1");
  EXPECT_EQ(boost::json::parse(*begun.body).at("what"), drain.at("what"));
  EXPECT_FALSE(drain.at("safe_to_pull").as_bool());
  EXPECT_EQ(drain.at("on").to_number<int>(), 4);
  EXPECT_EQ(drain.at("by"), "uid 0 for ann");
  EXPECT_EQ(drain.at("ends_in_seconds").to_number<double>(), 60);
  const auto ended = ask(true, R"({"end":true})");
  ASSERT_EQ(ended.status, 200U) << *ended.body;
  EXPECT_TRUE(drains().empty());
  EXPECT_EQ(ask(true, R"({"end":true})").status, 404U);
}

TEST_F(DrainApi, WhatCutsHostsOffNamesThemAndNeedsMoreThanAName) {
  const auto refused = ask(true, R"({"what":["leaf-1"]})");
  EXPECT_EQ(refused.status, 403U);
  EXPECT_THAT(*refused.body, HasSubstr("host-2 mlx5_0/1, host-3 mlx5_0/1"));
  EXPECT_TRUE(drains().empty());
  EXPECT_EQ(ask(true, R"({"what":["leaf-1"],"with_hosts":true})").status, 200U);
  EXPECT_TRUE(drains().front().at("with_hosts").as_bool());
}

TEST_F(DrainApi, WhatIsWrongIsSaid) {
  for (const char* body :
       {"", "[]", R"({"what":[]})", R"({"what":"spine-1"})", R"({"what":[7]})",
        R"({"what":["spine-1"],"for_seconds":-1})", R"({"what":["spine-1"],"force":true})"}) {
    EXPECT_EQ(ask(true, body).status, 400U) << body;
  }
  EXPECT_EQ(ask(true, R"({"what":["nowhere"]})").status, 404U);
  EXPECT_TRUE(drains().empty());
}

}  // namespace
}  // namespace heddle::control
