#include "authority/plan_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "support/scratch.h"

namespace heddle::opensm {
namespace {

using testing::HasSubstr;

class PlanFile : public testing::Test {
 protected:
  [[nodiscard]] std::string path() const { return directory_ / "plan.json"; }

  test::Scratch directory_;
};

plan::Plan of_epoch(std::uint64_t epoch) {
  plan::Plan plan;
  plan.epoch = epoch;
  return plan;
}

TEST_F(PlanFile, IsReplacedAsAWhole) {
  for (const std::uint64_t epoch : {1U, 2U}) {
    const auto written = write_plan(path(), of_epoch(epoch));
    ASSERT_TRUE(written) << written.error().message;
    const auto read = read_plan(path());
    ASSERT_TRUE(read) << read.error().message;
    EXPECT_EQ(read->epoch, epoch);
  }
  EXPECT_FALSE(std::filesystem::exists(path() + ".tmp"));
}

TEST_F(PlanFile, AFailedWriteLeavesTheOneBefore) {
  ASSERT_TRUE(write_plan(path(), of_epoch(1)));
  std::filesystem::create_directory(path() + ".tmp");  // the scratch file cannot be opened
  const auto written = write_plan(path(), of_epoch(2));
  ASSERT_FALSE(written);
  EXPECT_EQ(written.error().code, ErrorCode::Io);
  EXPECT_THAT(written.error().message, HasSubstr("plan.json.tmp"));
  EXPECT_EQ(read_plan(path()).value().epoch, 1U);
}

TEST_F(PlanFile, TheOneBeforeIsKeptUnlessItIsDamaged) {
  ASSERT_TRUE(write_plan(path(), of_epoch(1)));
  ASSERT_TRUE(write_plan(path(), of_epoch(2)));
  EXPECT_EQ(read_plan(path() + ".previous").value().epoch, 1U);
  std::ofstream{path()} << "{}";
  ASSERT_TRUE(write_plan(path(), of_epoch(3)));
  EXPECT_EQ(read_plan(path() + ".previous").value().epoch, 1U);
}

TEST_F(PlanFile, ThatIsMissingIsNotFound) {
  const auto read = read_plan(path());
  ASSERT_FALSE(read);
  EXPECT_EQ(read.error().code, ErrorCode::NotFound);
}

TEST_F(PlanFile, ThatIsDamagedSaysSo) {
  std::ofstream{path()} << "{}";
  const auto read = read_plan(path());
  ASSERT_FALSE(read);
  EXPECT_THAT(read.error().message, HasSubstr("plan.json: checksum"));
}

}  // namespace
}  // namespace heddle::opensm
