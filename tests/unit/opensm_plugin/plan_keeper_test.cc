#include "core/plan_keeper.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>

#include "planned/route_maker.h"
#include "support/scratch.h"
#include "unit/planned/subnets.h"

namespace heddle::plugin {
namespace {

using testing::HasSubstr;

class PlanFiles : public testing::Test {
 protected:
  [[nodiscard]] std::string path() const { return directory_ / "plan.json"; }
  void put(const std::string& text) {
    std::ofstream(path() + ".tmp", std::ios::binary) << text;
    std::filesystem::rename(path() + ".tmp", path());
  }

  test::Scratch directory_;
};

std::string text_of(std::uint64_t epoch) {
  plan::Plan plan;
  plan.epoch = epoch;
  return plan::to_text(plan);
}

TEST_F(PlanFiles, AreTakenWhenTheyAreReplaced) {
  PlanKeeper keeper(path());
  EXPECT_EQ(keeper.look(), PlanKeeper::News::Missing);
  EXPECT_EQ(keeper.plan(), nullptr);
  EXPECT_EQ(keeper.look(), PlanKeeper::News::None);
  put(text_of(7));
  EXPECT_EQ(keeper.look(), PlanKeeper::News::Taken);
  ASSERT_NE(keeper.plan(), nullptr);
  EXPECT_EQ(keeper.plan()->epoch, 7U);
  EXPECT_EQ(keeper.look(), PlanKeeper::News::None);
}

TEST_F(PlanFiles, ThatAreBrokenLeaveTheLastGoodPlan) {
  PlanKeeper keeper(path());
  put(text_of(7));
  (void)keeper.look();
  put("{}");
  EXPECT_EQ(keeper.look(), PlanKeeper::News::Refused);
  EXPECT_THAT(keeper.message(), HasSubstr("plan.json: checksum"));
  EXPECT_THAT(keeper.message(), HasSubstr("going on with the plan of epoch 7"));
  EXPECT_EQ(keeper.plan()->epoch, 7U);
  EXPECT_EQ(keeper.look(), PlanKeeper::News::None);
  std::filesystem::remove(path());
  EXPECT_EQ(keeper.look(), PlanKeeper::News::Missing);
  EXPECT_EQ(keeper.plan()->epoch, 7U);
}

TEST_F(PlanFiles, ThatAreBrokenAtTheStartGiveWayToTheOneBefore) {
  std::ofstream(path() + ".previous") << text_of(6);
  put("{}");
  PlanKeeper keeper(path());
  EXPECT_EQ(keeper.look(), PlanKeeper::News::Refused);
  ASSERT_NE(keeper.plan(), nullptr);
  EXPECT_EQ(keeper.plan()->epoch, 6U);
}

TEST_F(PlanFiles, APipeDoesNotMakeOpenSmWait) {
  ASSERT_EQ(::mkfifo(path().c_str(), 0600), 0);
  PlanKeeper keeper(path());
  EXPECT_EQ(keeper.look(), PlanKeeper::News::Refused);
  EXPECT_THAT(keeper.message(), HasSubstr("not a plain file"));
}

TEST_F(PlanFiles, ADirectoryIsNoPlan) {
  std::filesystem::create_directory(path());
  PlanKeeper keeper(path());
  EXPECT_EQ(keeper.look(), PlanKeeper::News::Refused);
}

TEST_F(PlanFiles, ALargeOneIsNotRead) {
  std::ofstream(path()) << "x";
  std::filesystem::resize_file(path(), plan::max_bytes + 1);
  PlanKeeper keeper(path());
  EXPECT_EQ(keeper.look(), PlanKeeper::News::Refused);
  EXPECT_THAT(keeper.message(), HasSubstr("at most 16777216 are read"));
}

/// What the engine does with every damaged file: the tables of the last good plan, whatever is in it.
TEST_F(PlanFiles, EveryDamagedOneLeavesTheTablesOfTheLastGoodOne) {
  planned::SubnetRecords records = planned::records_of(*planned::fabric_of("tree:k=2,n=2"));
  plan::Plan plan;
  plan.epoch = 1;
  plan.off = {planned::trunks_of(records).front()};
  planned::remove(records, plan.off.front());
  const std::string good = plan::to_text(plan);
  put(good);
  PlanKeeper keeper(path());
  ASSERT_EQ(keeper.look(), PlanKeeper::News::Taken);
  planned::RouteMaker maker;
  const planned::Subnet subnet = planned::make_subnet(records, plan.off);
  const auto tables = maker.make(subnet, keeper.plan(), 0).value().tables;
  const auto expect_unchanged = [&](const std::string& damaged) {
    put(damaged);
    ASSERT_EQ(keeper.look(), PlanKeeper::News::Refused);
    ASSERT_EQ(maker.make(subnet, keeper.plan(), 0).value().tables, tables);
    // And one that starts with nothing better never routes into the link that is off.
    PlanKeeper fresh(path());
    ASSERT_EQ(fresh.look(), PlanKeeper::News::Refused);
    ASSERT_EQ(fresh.plan(), nullptr);
  };
  for (std::size_t i = 0; i < good.size(); ++i) {
    std::string flipped = good;
    flipped[i] = static_cast<char>(flipped[i] ^ (1 << (i % 8)));
    expect_unchanged(flipped);
    expect_unchanged(good.substr(0, i));
    if (HasFatalFailure()) FAIL() << "at byte " << i;
  }
}

}  // namespace
}  // namespace heddle::plugin
