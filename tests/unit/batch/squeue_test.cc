#include "batch/squeue.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fstream>
#include <iterator>

#include "support/scratch.h"

namespace heddle::batch {
namespace {

using testing::HasSubstr;
using namespace std::chrono_literals;

/// A squeue that is a script, and writes down how it was asked.
class AskSqueue : public testing::Test {
 protected:
  std::string script(const std::string& body) {
    std::ofstream{file_} << "#!/bin/sh\necho \"$1\" >> " << asked_ << "\n" << body;
    chmod(file_.c_str(), S_IRWXU);
    return file_;
  }
  [[nodiscard]] std::string asked() const {
    std::ifstream in{asked_};
    return {std::istreambuf_iterator<char>{in}, {}};
  }

 private:
  test::Scratch directory_;
  std::string file_ = directory_ / "squeue";
  std::string asked_ = directory_ / "asked";
};

TEST_F(AskSqueue, JsonIsEnough) {
  const auto jobs = ask_squeue(
      {.program = script(R"(echo '{"jobs":[{"job_id":7,"job_state":"RUNNING","nodes":"n[1-2]"}]}')")});
  ASSERT_TRUE(jobs) << jobs.error().message;
  ASSERT_EQ(jobs->size(), 1U);
  EXPECT_EQ(asked(), "--json\n");
}

TEST_F(AskSqueue, LinesWhereItKnowsNoJson) {
  const auto jobs = ask_squeue({.program = script("[ $1 != --json ] || exit 1\necho '7|ann|n1|x'\n")});
  ASSERT_TRUE(jobs) << jobs.error().message;
  ASSERT_EQ(jobs->size(), 1U);
  EXPECT_EQ(asked(), "--json\n--noheader\n");
}

// Whoever hangs once hangs twice, and both would be waited for.
TEST_F(AskSqueue, OneThatHangsIsAskedOnce) {
  const auto jobs = ask_squeue({.program = script("exec sleep 600\n"), .patience = 200ms});
  ASSERT_FALSE(jobs);
  EXPECT_EQ(jobs.error().code, ErrorCode::Unreachable);
  EXPECT_THAT(jobs.error().message, HasSubstr("did not answer"));
  EXPECT_EQ(asked(), "--json\n");
}

TEST_F(AskSqueue, OneThatNobodyWaitsForAnyMoreIsEnded) {
  std::atomic<bool> given_up = true;
  const auto jobs = ask_squeue({.program = script("exec sleep 600\n"), .given_up = &given_up});
  EXPECT_FALSE(jobs);
}

TEST_F(AskSqueue, RootAsksAsNobody) {
  if (geteuid() != 0) GTEST_SKIP() << "only root gives up being root";
  const auto jobs = ask_squeue({.program = "/usr/bin/id", .run_as = RunAs::Nobody});
  ASSERT_FALSE(jobs);  // id knows neither option
  EXPECT_THAT(jobs.error().message, HasSubstr("slurmctld"));
}

TEST_F(AskSqueue, JsonThatIsNoListOfJobsIsSaidAndLinesAreNotAskedFor) {
  const auto jobs = ask_squeue({.program = script("echo '{}'\n")});
  ASSERT_FALSE(jobs);
  EXPECT_THAT(jobs.error().message, HasSubstr("\"jobs\""));
  EXPECT_EQ(asked(), "--json\n");
}

TEST_F(AskSqueue, OneThatFailsOrIsNotThereIsAnError) {
  const auto failed = ask_squeue({.program = script("exit 1\n")});
  ASSERT_FALSE(failed);
  EXPECT_THAT(failed.error().message, HasSubstr("slurmctld"));
  const auto gone = ask_squeue({.program = "/nowhere/squeue"});
  ASSERT_FALSE(gone);
  EXPECT_EQ(gone.error().code, ErrorCode::Unsupported);
}

}  // namespace
}  // namespace heddle::batch
