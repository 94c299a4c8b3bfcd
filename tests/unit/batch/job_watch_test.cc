#include "batch/job_watch.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "fabric/generators.h"
#include "support/desks.h"

namespace heddle::batch {
namespace {

using testing::ElementsAre;

/// A batch system that says what it is told to, and a desk that works when it is told to.
class JobWatchTest : public testing::Test {
 protected:
  std::shared_ptr<const load::Sample> sample() const {
    auto made = std::make_shared<load::Sample>();
    made->fabric = fabric_;
    made->ports.resize(fabric_->ports().size());
    for (load::PortSample& port : made->ports) port.xmit_bytes_per_second = 5;
    return made;
  }
  [[nodiscard]] static jobs::Job job(const std::string& id, const std::string& host) {
    return {id, "ann", "x", {host}};
  }

  std::shared_ptr<const Fabric> fabric_ = *generate("tree:k=2,n=2");
  Result<std::vector<jobs::Job>> says_ = std::vector{job("1", "host-0")};
  int asked_ = 0;
  std::vector<std::vector<std::string>> newest_;
  Instant now_{};
  test::SlowDesk desk_;
  JobWatch watch_{[this] {
                    ++asked_;
                    return says_;
                  },
                  desk_.desk([this] { return now_; }),
                  [this](const jobs::Report& report, const std::vector<std::size_t>& newest) {
                    auto& ids = newest_.emplace_back();
                    for (const std::size_t i : newest) ids.push_back(report.jobs[i].id);
                  }};
};

TEST_F(JobWatchTest, ReckonsWithEachSampleOnceItKnowsJobs) {
  watch_.on_sample(sample());
  desk_.work();
  EXPECT_EQ(watch_.report(), nullptr);
  watch_.ask();
  now_ += std::chrono::seconds{3};
  desk_.work();
  EXPECT_EQ(watch_.asked(), Instant{}) << "as old as the question";
  watch_.on_sample(sample());
  desk_.work();
  ASSERT_NE(watch_.report(), nullptr);
  EXPECT_EQ(watch_.report()->figures.front().injected, 5);
}

TEST_F(JobWatchTest, LeavesOutWhatIsDueWhileItWaits) {
  watch_.ask();
  watch_.ask();
  EXPECT_EQ(desk_.waiting(), 1U);
  desk_.work();
  EXPECT_EQ(asked_, 1);
  watch_.on_sample(sample());
  watch_.on_sample(sample());
  EXPECT_EQ(desk_.waiting(), 1U);
  desk_.work();
  EXPECT_EQ(newest_.size(), 1U);
  watch_.on_sample(sample());
  desk_.work();
  EXPECT_EQ(newest_.size(), 2U);
}

TEST_F(JobWatchTest, KeepsTheJobsThatItKnowsAndSaysThatTheyAreOld) {
  watch_.ask();
  desk_.work();
  says_ = fail(ErrorCode::Unreachable, "slurmctld is gone");
  now_ += std::chrono::seconds{30};
  watch_.ask();
  desk_.work();
  EXPECT_EQ(watch_.trouble(), "slurmctld is gone");
  EXPECT_EQ(watch_.asked(), Instant{});
  watch_.on_sample(sample());
  desk_.work();
  EXPECT_EQ(watch_.report()->jobs.size(), 1U);
  says_ = std::vector<jobs::Job>{};
  watch_.ask();
  desk_.work();
  EXPECT_EQ(watch_.trouble(), "");
}

TEST_F(JobWatchTest, TellsTheNewestFirst) {
  says_ = std::vector{job("1", "host-0"), job("2", "host-1")};
  watch_.ask();
  desk_.work();
  says_ = std::vector{job("3", "host-2"), job("2", "host-1")};
  watch_.ask();
  desk_.work();
  watch_.on_sample(sample());
  desk_.work();
  EXPECT_THAT(newest_.back(), ElementsAre("3", "2"));
}

TEST(JobWatch, AnswersThatComeAfterItsEndAreNobodys) {
  test::SlowDesk desk;
  {
    JobWatch watch{[] { return Result<std::vector<jobs::Job>>{}; }, desk.desk([] { return Instant{}; }),
                   [](const jobs::Report&, const std::vector<std::size_t>&) {}};
    watch.ask();
  }
  desk.work();
}

}  // namespace
}  // namespace heddle::batch
