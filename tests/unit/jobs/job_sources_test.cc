#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "jobs/job.h"

namespace heddle::jobs {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

std::vector<std::string> expanded(std::string_view text) {
  const auto hosts = expand_hostlist(text, 1000);
  EXPECT_TRUE(hosts) << text << ": " << hosts.error().message;
  return hosts.value_or(std::vector<std::string>{});
}

TEST(Hostlist, IsExpanded) {
  EXPECT_THAT(expanded(""), IsEmpty());
  EXPECT_THAT(expanded("login"), ElementsAre("login"));
  EXPECT_THAT(expanded("n[08-11,3],login"), ElementsAre("n08", "n09", "n10", "n11", "n3", "login"));
  EXPECT_THAT(expanded("r[1-2]n[1-2]-ib"), ElementsAre("r1n1-ib", "r1n2-ib", "r2n1-ib", "r2n2-ib"));
}

TEST(Hostlist, NonsenseIsAnErrorAndNeverLarge) {
  for (const char* text : {"n[1", "n1]", "n[a-b]", "n[3-1]", "n[-1]", "n[1-2-3]", "n[1-99999999]",
                           "n[0-999]x[0-999]", "n[1-18446744073709551615]", "n[99999999999999999999]"}) {
    EXPECT_FALSE(expand_hostlist(text, 1000)) << text;
  }
}

// Before there were bounds: a stack that is full, 10^10 steps to no name, and 200,000 names of 100 KB.
TEST(Hostlist, OfManyBracketsOrLongNamesIsAnErrorAtOnce) {
  std::string deep = "n";
  for (int i = 0; i < 200'000; ++i) deep += "[0]";
  const std::string wide = "n[" + std::string(100'000, '0') + "-199999]";
  for (const std::string& text :
       {deep, std::string{"n[0-199999][0-199999][]"}, std::string{"n[]"}, wide, std::string(256, 'n'),
        std::string(200, 'n') + "[0-9]" + std::string(60, 'n')}) {
    const auto hosts = expand_hostlist(text, 200'000);
    ASSERT_FALSE(hosts) << text.substr(0, 40);
    EXPECT_THAT(hosts.error().message, HasSubstr("in a list of hosts: ")) << text.substr(0, 40);
    EXPECT_LT(hosts.error().message.size(), 200U);
  }
  EXPECT_THAT(expanded("n[0]" + std::string(251, 'n')), SizeIs(1));
}

TEST(JobFile, HasLinesOfAJobAndItsHosts) {
  const auto jobs = parse_job_file("# job,host\n7,n2, n1\r\n\n8,n3\n7,n1,n4\n", "jobs.csv");
  ASSERT_TRUE(jobs) << jobs.error().message;
  EXPECT_THAT(*jobs, ElementsAre(Job{"7", "", "", {"n1", "n2", "n4"}}, Job{"8", "", "", {"n3"}}));
  const auto wrong = parse_job_file("7,n1\n8\n", "jobs.csv");
  ASSERT_FALSE(wrong);
  EXPECT_THAT(wrong.error().message, HasSubstr("jobs.csv:2: expected job,host"));
}

TEST(JobFile, WhatIsNoListIsAnErrorAndNoJob) {
  for (const char* text : {"{\"jobs\": [], \"errors\": []}\n", "{\"a\":1,\"b\":2}", "[1,2]", "<html>, x",
                           "7,n1 n2", "7,\"n1\"", "a job,n1", "7,n\x1b[1m", "|7,n1", ",n1", "7,"}) {
    const auto jobs = parse_job_file(text, "jobs.csv");
    ASSERT_FALSE(jobs) << text;
    EXPECT_THAT(jobs.error().message, HasSubstr("jobs.csv:1: expected job,host")) << text;
  }
  const auto none = parse_job_file("# nobody computes\n", "jobs.csv");
  ASSERT_TRUE(none);
  EXPECT_THAT(*none, IsEmpty());
}

// Forms of the data_parser of 22.05 (a word, numbers) and of 23.11 (lists, numbers that may be unset).
TEST(Squeue, JsonOfBothGenerationsIsRead) {
  const auto jobs = parse_squeue_json(R"({"meta":{},"jobs":[
    {"job_id":11,"array_job_id":0,"job_state":"RUNNING","nodes":"n[1-2]","user_name":"ann","name":"cfd"},
    {"job_id":12,"job_state":"PENDING","nodes":"","user_name":"ann","name":"later"},
    {"job_id":15,"array_job_id":{"set":true,"infinite":false,"number":13},"array_task_id":{"set":true,"number":2},
     "job_state":["RUNNING"],"nodes":"n3","user_name":"bob","name":"x"},
    {"job_id":16,"array_job_id":{"set":false,"number":0},"job_state":["COMPLETING","RUNNING"],"nodes":"n4"}]})");
  ASSERT_TRUE(jobs) << jobs.error().message;
  EXPECT_THAT(*jobs, ElementsAre(Job{"11", "ann", "cfd", {"n1", "n2"}}, Job{"13_2", "bob", "x", {"n3"}},
                                 Job{"16", "", "", {"n4"}}));
}

TEST(Squeue, JsonThatHasNoListOfJobsIsAnErrorAndNoJob) {
  for (const char* text :
       {"", "[]", "{}", "7", R"({"jobs":{}})", R"({"jobs":null})", "{\"jobs\":[", R"({"jobs":[7]})",
        R"({"jobs":[{"job_id":7}]})", R"({"jobs":[{"job_state":"RUNNING","nodes":"n1"}]})",
        R"({"jobs":[{"job_id":"x","job_state":"RUNNING","nodes":"n1"}]})"}) {
    const auto jobs = parse_squeue_json(text);
    ASSERT_FALSE(jobs) << text;
    EXPECT_THAT(jobs.error().message, HasSubstr("squeue printed")) << text;
  }
  const auto none = parse_squeue_json(R"({"jobs":[],"warnings":[],"errors":[]})");
  ASSERT_TRUE(none);
  EXPECT_THAT(*none, IsEmpty());
}

// As Debian's 22.05 prints it where slurmctld is gone, and ends with 0.
TEST(Squeue, AnEmptyListWithErrorsIsNoListOfNobody) {
  const auto jobs = parse_squeue_json(
      R"({"errors":[{"description":"Failed while looking for jobs","error_number":-1}],"jobs":[]})");
  ASSERT_FALSE(jobs);
  EXPECT_EQ(jobs.error().code, ErrorCode::Unreachable);
  EXPECT_THAT(jobs.error().message,
              HasSubstr("Failed while looking for jobs; see whether slurmctld answers"));
}

TEST(Squeue, LinesThatAreNoneAreAnErrorAndNoJob) {
  for (const char* text : {"{}\n", "slurm_load_jobs error: Unable to contact slurm controller\n",
                           "11|ann|n1\n", "|ann|n1|x\n", "{\"a|b|c|d\":1}\n"}) {
    const auto jobs = parse_squeue_lines(text);
    ASSERT_FALSE(jobs) << text;
    EXPECT_THAT(jobs.error().message, HasSubstr("squeue printed")) << text;
  }
  EXPECT_TRUE(parse_squeue_lines(""));
}

TEST(Squeue, LinesAreReadWhateverTheJobIsCalled) {
  const auto jobs = parse_squeue_lines("11|ann|n[1-2]|a|b c\n13_2|bob|n3|x\n");
  ASSERT_TRUE(jobs) << jobs.error().message;
  EXPECT_THAT(*jobs, ElementsAre(Job{"11", "ann", "a|b c", {"n1", "n2"}}, Job{"13_2", "bob", "x", {"n3"}}));
  EXPECT_FALSE(parse_squeue_lines("11|ann|n[1|x\n"));
}

}  // namespace
}  // namespace heddle::jobs
