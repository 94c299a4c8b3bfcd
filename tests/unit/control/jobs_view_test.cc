#include "control/jobs_view.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <boost/json/parse.hpp>

#include "fabric/generators.h"

namespace heddle::control {
namespace {

using testing::HasSubstr;

Result<boost::json::value> view_of_jobs(const DaemonState& state, const Query& query = {}) {
  std::string text;
  auto written = write_jobs(state, query, [&](std::string_view piece) { text += piece; });
  if (!written) return fail(written.error());
  return boost::json::parse(text);
}

TEST(JobsView, SaysWhatIsKnownAndHowOldThatIs) {
  DaemonState state;
  EXPECT_EQ(view_of_jobs(state).error().code, ErrorCode::Unsupported) << "nobody tells";
  state.jobs.source = "squeue";
  EXPECT_THAT(view_of_jobs(state).error().message, HasSubstr("have not been asked for yet"));
  state.jobs.trouble = "slurmctld is gone";
  EXPECT_EQ(view_of_jobs(state).error().message, "slurmctld is gone");
  const std::shared_ptr<const Fabric> fabric = *generate("tree:k=2,n=2");
  std::vector<jobs::PortLoad> loads(fabric->ports().size(), {7, 0.5, true});
  state.jobs.report = std::make_shared<const jobs::Report>(jobs::report(
      fabric, loads, {{"1", "ann", "x\x1b", {"host-0"}}, {"2", "bob", "", {"host-1", "host-2"}}}));
  state.jobs.age = std::chrono::seconds{3};
  const auto all = view_of_jobs(state);
  ASSERT_TRUE(all);
  EXPECT_EQ(all->at("jobs").as_array().size(), 2U);
  EXPECT_EQ(all->at("jobs").as_array().front().at("job"), "2") << "who sends most";
  EXPECT_EQ(all->at("jobs").as_array().back().at("name"), "x?");
  EXPECT_EQ(all->at("age_seconds").to_number<double>(), 3);
  EXPECT_EQ(all->at("trouble"), "slurmctld is gone");
  const auto one = view_of_jobs(state, {{"top", "1"}});
  EXPECT_EQ(one->at("left_out").to_number<int>(), 1);
  EXPECT_FALSE(view_of_jobs(state, {{"top", "x"}}));
}

}  // namespace
}  // namespace heddle::control
