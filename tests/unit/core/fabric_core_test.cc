#include "core/fabric_core.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "authority/authority.h"
#include "support/desks.h"
#include "support/scratch.h"
#include "support/scripted_transport.h"

namespace heddle::core {
namespace {

using namespace std::chrono_literals;

/// Nobody who writes, and who may be at it.
class Authority final : public authority::Authority {
 public:
  explicit Authority(authority::Seat& seat) : seat_{seat} {}
  [[nodiscard]] std::string why_not() const override { return "a test"; }
  [[nodiscard]] bool is_configuring() const override { return configures; }
  void on_found(std::shared_ptr<const Survey> survey, Instant /*now*/) override {
    seat_.use(std::move(survey));
  }

  [[nodiscard]] std::vector<Lid> staying() const override { return stay; }

  bool configures = false;
  std::vector<Lid> stay;

 private:
  authority::Seat& seat_;
};

class FabricCoreTest : public testing::Test, private Outside {
 protected:
  FabricCoreTest() {
    auto authority = std::make_unique<Authority>(core_.seat());
    authority_ = authority.get();
    core_.use(std::move(authority));
  }
  void on(const Event& event) { core_.on(event, now_); }
  /// What is due until then, and nothing answers.
  void pass(FabricClock::duration span) {
    const Instant end = now_ + span;
    for (auto next = core_.next_deadline(); next && *next <= end; next = core_.next_deadline()) {
      now_ = *next;
      on(TimersDue{});
    }
    now_ = end;
  }

  test::Scratch directory_;
  test::ScriptedTransport transport_;
  opensm::PlanStore plans_{directory_ / "plan.json", test::at_once()};
  FabricCore core_{{.transport = transport_, .plans = plans_, .desk = test::at_once(), .outside = *this}, {}};
  Authority* authority_ = nullptr;
  Instant now_{100s};
  int rests_ = 0;
  std::vector<std::string> errors_;

 private:
  void say(Severity severity, const std::string& text) override {
    if (severity == Severity::Error) errors_.push_back(text);
  }
  void on_rest() override { ++rests_; }
};

TEST_F(FabricCoreTest, BeginsWithASweepAndNotBefore) {
  on(TimersDue{});
  EXPECT_TRUE(transport_.sent.empty());
  EXPECT_EQ(core_.next_deadline(), std::nullopt);
  on(Began{});
  EXPECT_EQ(transport_.sent.size(), 1U);
  EXPECT_TRUE(core_.next_deadline());
  EXPECT_FALSE(core_.quiet());
}

// What no safe order of writing leads away from is the operator's to know.
TEST_F(FabricCoreTest, SaysWhichLidsKeepEarlierRoutes) {
  const auto said = [&] {
    std::string texts;
    for (const Problem& problem : core_.problems())
      if (problem.kind == ProblemKind::EarlierRoutes) texts += problem.text;
    return texts;
  };
  EXPECT_EQ(said(), "");
  for (const std::uint16_t lid : {5, 7, 12, 33, 40}) authority_->stay.emplace_back(lid);
  EXPECT_THAT(said(), testing::StartsWith("5 LIDs keep routes of an earlier order"));
  EXPECT_THAT(said(), testing::HasSubstr(": LID 5, LID 7, LID 12, and 2 more; "));
  // World 4000010170 of the swarm: two leaves had no route to them.
  EXPECT_THAT(said(), testing::HasSubstr("a switch that has none to one of them gets none"));
  authority_->stay = {Lid{9}};
  EXPECT_THAT(said(), testing::HasSubstr("1 LID keeps routes"));
  EXPECT_THAT(said(), testing::HasSubstr(": LID 9; "));
}

TEST_F(FabricCoreTest, DoesNothingWhenItIsWokenTooEarly) {
  on(Began{});
  const auto next = core_.next_deadline();
  for (int i = 0; i < 10; ++i) on(TimersDue{});
  EXPECT_EQ(transport_.sent.size(), 1U);
  EXPECT_EQ(core_.next_deadline(), next);
}

TEST_F(FabricCoreTest, SaysThatNobodyAnswersAndAsksAgainAtTheNextLightSweep) {
  on(Began{});
  pass(9s);
  ASSERT_EQ(core_.problems().size(), 1U);
  EXPECT_EQ(core_.problems()[0].kind, ProblemKind::Discovery);
  EXPECT_EQ(errors_.size(), 1U);
  const std::size_t sent = transport_.sent.size();
  EXPECT_EQ(core_.next_deadline(), Instant{110s});
  pass(1s);
  EXPECT_GT(transport_.sent.size(), sent);
}

TEST_F(FabricCoreTest, CountsIntervalsThatAreShorterFromTheReload) {
  on(Began{});
  pass(5s);
  Settings settings;
  settings.light_sweep = 1s;
  on(Reloaded{settings});
  EXPECT_EQ(core_.next_deadline(), Instant{106s});
  settings.light_sweep = 1min;
  on(Reloaded{settings});
  EXPECT_EQ(core_.next_deadline(), Instant{106s}) << "what is due stays due";
}

TEST_F(FabricCoreTest, RestsAtOnceWhereNothingIsRegulated) {
  on(Began{});
  authority_->configures = true;  // that goes on with whoever is started next
  on(StopAsked{Changes::GoOn});
  EXPECT_EQ(rests_, 1);
}

TEST_F(FabricCoreTest, EndsWhatIsConfiguredBeforeItBeginsAnew) {
  on(Began{});
  authority_->configures = true;
  on(StopAsked{Changes::End});
  on(TimersDue{});
  EXPECT_EQ(rests_, 0);
  authority_->configures = false;
  on(TimersDue{});
  on(TimersDue{});
  EXPECT_EQ(rests_, 1);
}

TEST_F(FabricCoreTest, WaitsForAnswersFromTheEndOfAnEventThatTookLong) {
  on(Began{});
  const std::size_t sent = transport_.sent.size();
  ASSERT_GT(sent, 0U);
  now_ += 1s;
  on(TookLong{});
  on(TimersDue{});
  EXPECT_EQ(transport_.sent.size(), sent);
  now_ += 1s;
  on(TimersDue{});
  EXPECT_GT(transport_.sent.size(), sent);
}

TEST_F(FabricCoreTest, HearsNothingAfterItsEnd) {
  on(Began{});
  core_.end();
  const std::size_t sent = transport_.sent.size();
  EXPECT_EQ(core_.next_deadline(), std::nullopt);
  bool asked = false;
  on(Arrived{transport_.answer_to(0), now_});
  on(WayMoved{});
  on(Asked{[&] { asked = true; }});
  EXPECT_EQ(transport_.sent.size(), sent);
  EXPECT_FALSE(asked);
  EXPECT_TRUE(errors_.empty());
}

// What was handed out may be answered from within: then the event that asked is not over yet.
TEST_F(FabricCoreTest, SettlesWhenTheOutermostEventIsOver) {
  on(Asked{[&] {
    on(StopAsked{Changes::GoOn});
    EXPECT_EQ(rests_, 0);
  }});
  EXPECT_EQ(rests_, 1);
}

TEST_F(FabricCoreTest, LooksIntoQueuesOfASampledFabricOnly) {
  on(Began{});
  const auto looked = core_.look_at_queues({}, [](const std::vector<sampling::QueueLook>&) {});
  ASSERT_FALSE(looked);
  EXPECT_EQ(looked.error().code, ErrorCode::Unreachable);
}

/// Somebody who takes over tells what it was given first.
class Successor final : public authority::Authority {
 public:
  explicit Successor(authority::Seat& seat, std::vector<std::string>& told) : seat_{seat}, told_{told} {}
  [[nodiscard]] std::string why_not() const override { return {}; }
  Result<void> take_subnet() override {
    told_.emplace_back("take");
    return {};
  }
  void on_found(std::shared_ptr<const Survey> survey, Instant /*now*/) override {
    told_.emplace_back("found");
    seat_.use(std::move(survey));
  }

 private:
  authority::Seat& seat_;
  std::vector<std::string>& told_;
};

TEST_F(FabricCoreTest, WhoeverTakesOverLooksAtTheFabricAnew) {
  on(Began{});
  pass(5s);
  const std::size_t before = transport_.sent.size();
  std::vector<std::string> told;
  on(Asked{[&] { core_.take_over(std::make_unique<Successor>(core_.seat(), told), nullptr); }, nullptr});
  ASSERT_FALSE(told.empty());
  EXPECT_EQ(told.front(), "take");
  EXPECT_TRUE(core_.authority().may_write());
  EXPECT_GT(transport_.sent.size(), before);
}

}  // namespace
}  // namespace heddle::core
