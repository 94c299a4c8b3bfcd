#include "authority/plan_store.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "authority/plan_file.h"
#include "support/desks.h"
#include "support/scratch.h"

namespace heddle::opensm {
namespace {

using testing::HasSubstr;
using Part = PlanStore::Part;

class Store : public testing::Test {
 protected:
  [[nodiscard]] std::string path() const { return directory_ / "plan.json"; }
  [[nodiscard]] plan::Plan on_disk() const { return read_plan(path()).value(); }

  static void say_ranks(plan::Plan& plan) { plan.ranks = {{NodeGuid{7}, 3}}; }
  static void say_qos(plan::Plan& plan) {
    plan.qos.emplace();
    plan.qos->groups.push_back({{{NodeGuid{1}, PortNum{1}}}, {{{{Vl{0}, 4}}, {}, qos::HighLimit{0}}, {}}});
  }

  /// With a disk that is at once done with it.
  static Result<std::uint64_t> update(PlanStore& store, Part part,
                                      const std::function<void(plan::Plan&)>& change) {
    std::optional<Result<std::uint64_t>> said;
    store.update(part, change, [&](const Result<std::uint64_t>& epoch, Instant) { said = epoch; });
    return said.value();
  }

  test::Scratch directory_;
};

TEST_F(Store, EachPartStaysWhenTheOtherChanges) {
  PlanStore store(path(), test::at_once());
  ASSERT_EQ(update(store, Part::Routing, say_ranks).value(), 1U);
  ASSERT_EQ(update(store, Part::Qos, say_qos).value(), 2U);
  EXPECT_EQ(on_disk(), store.plan());
  EXPECT_EQ(on_disk().ranks.size(), 1U);
  EXPECT_TRUE(on_disk().qos);
  EXPECT_EQ(PlanStore(path(), test::at_once()).plan(), store.plan());
}

/// The regulation wrote the epoch of its own stage after a push had written a later one, so that a late
/// report could confirm the wrong stage.
TEST_F(Store, TheEpochOnlyGrowsWhoeverWrites) {
  PlanStore store(path(), test::at_once());
  ASSERT_TRUE(update(store, Part::Routing, [](plan::Plan& plan) { plan.epoch = 40; }));
  EXPECT_EQ(on_disk().epoch, 1U);
  store.saw(12);  // of the plugin, which has a plan that is not here
  EXPECT_EQ(update(store, Part::Qos, say_qos).value(), 13U);
  store.saw(5);
  EXPECT_EQ(update(store, Part::Qos, say_qos).value(), 14U);
  std::filesystem::remove(path());
  PlanStore again(path(), test::at_once());
  EXPECT_GT(update(again, Part::Qos, say_qos).value(), 13U);
}

/// An unreadable plan counted as an empty one: the next step of the regulation dropped the QoS tables.
TEST_F(Store, APartThatCannotBeReadIsNotDropped) {
  std::ofstream{path()} << "{}";
  PlanStore store(path(), test::at_once());
  EXPECT_THAT(store.trouble(), HasSubstr("cannot be read"));
  const auto refused = update(store, Part::Routing, say_ranks);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::Refused);
  EXPECT_THAT(refused.error().message, HasSubstr("heddle qos push"));
  EXPECT_FALSE(read_plan(path()));
  // With the other part said again, everything is known.
  ASSERT_TRUE(update(store, Part::Qos, say_qos));
  EXPECT_EQ(on_disk().ranks.size(), 1U);
  EXPECT_EQ(store.trouble(), "");
}

TEST_F(Store, APushDoesNotDropTheOrderThatItCannotRead) {
  std::ofstream{path()} << "{}";
  PlanStore store(path(), test::at_once());
  EXPECT_FALSE(update(store, Part::Qos, say_qos));
  EXPECT_FALSE(store.knows(Part::Routing));
  ASSERT_TRUE(update(store, Part::Routing, say_ranks));
  EXPECT_TRUE(on_disk().qos);
}

TEST_F(Store, WhatCouldNotBeWrittenIsTroubleAndGoesWithTheNext) {
  PlanStore store(path(), test::at_once());
  std::filesystem::create_directory(path() + ".tmp");
  const auto failed = update(store, Part::Routing, say_ranks);
  ASSERT_FALSE(failed);
  EXPECT_EQ(failed.error().code, ErrorCode::Io);
  EXPECT_THAT(store.trouble(), HasSubstr("cannot be written"));
  std::filesystem::remove(path() + ".tmp");
  ASSERT_TRUE(update(store, Part::Qos, say_qos));
  EXPECT_EQ(on_disk().ranks.size(), 1U);
  EXPECT_EQ(store.trouble(), "");
}

/// A sync that takes seconds held the daemon's thread for as long, sampling and mastership with it.
TEST_F(Store, WaitsForNoDiskAndSaysSoWhenItHasThePlan) {
  test::SlowDesk disk;
  Instant now{};
  std::vector<std::uint64_t> stored;
  PlanStore store(path(), disk.desk([&] { return now; }));
  const auto note = [&](const Result<std::uint64_t>& epoch, Instant at) {
    EXPECT_EQ(at, now);
    stored.push_back(epoch.value());
  };
  store.update(Part::Routing, say_ranks, note);
  store.update(Part::Qos, say_qos, note);
  EXPECT_EQ(store.plan().epoch, 2U);
  EXPECT_TRUE(stored.empty());
  EXPECT_FALSE(std::filesystem::exists(path()));
  now += std::chrono::seconds{9};
  disk.work();
  EXPECT_THAT(stored, testing::ElementsAre(1U, 2U));
  EXPECT_EQ(on_disk(), store.plan());
}

TEST_F(Store, NobodyIsCalledAfterItsEnd) {
  test::SlowDesk disk;
  {
    PlanStore store(path(), disk.desk([] { return Instant{}; }));
    store.update(Part::Routing, say_ranks, [](const auto&, Instant) { FAIL() << "called"; });
  }
  disk.work();
  EXPECT_EQ(on_disk().ranks.size(), 1U);
}

}  // namespace
}  // namespace heddle::opensm
