#include "notice/bodies.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <boost/json/parse.hpp>
#include <boost/json/value.hpp>

namespace heddle::notice {
namespace {

using namespace std::chrono_literals;
namespace json = boost::json;

const WallTime noon{std::chrono::milliseconds{1'795'435'200'000}};
const Teller teller{"sm-1", "north"};

Notice event(std::uint64_t id) {
  return bounded({id, noon, What::Event, "failed", "leaf-1/3 -- \"spine\\\x1b[31m", "a \"text\"\n", {}});
}
Notice problem(What what) { return {8, noon, what, "lost-links", {}, "1 link is down", noon - 1min}; }

std::string at(const json::value& value, const char* path) {
  return std::string{value.at_pointer(path).as_string()};
}

TEST(Bodies, JsonHasEachNoticeAndWhoTells) {
  const std::vector<Notice> notices{event(7), problem(What::ProblemEnded)};
  const json::value body = json::parse(json_body(notices, teller, 3));
  EXPECT_EQ(body.at("version"), 1);
  EXPECT_EQ(at(body, "/host"), "sm-1");
  EXPECT_EQ(at(body, "/fabric"), "north");
  EXPECT_EQ(body.at("dropped"), 3);
  ASSERT_EQ(body.at("notices").as_array().size(), 2U);
  EXPECT_EQ(body.at_pointer("/notices/0/id"), 7);
  EXPECT_EQ(at(body, "/notices/0/class"), "event");
  EXPECT_EQ(at(body, "/notices/0/severity"), "warning");
  EXPECT_EQ(at(body, "/notices/0/links"), "leaf-1/3 -- \"spine\\?[31m");
  EXPECT_EQ(at(body, "/notices/0/text"), "a \"text\"?");
  EXPECT_EQ(at(body, "/notices/1/class"), "problem");
  EXPECT_EQ(at(body, "/notices/1/state"), "ended");
  EXPECT_EQ(at(body, "/notices/1/since"), "2026-11-23T11:59:00.000Z");
}

TEST(Bodies, AnAlertOfAProblemEndsWithIt) {
  const auto alert = [](What what) {
    const std::vector<Notice> notices{problem(what)};
    return json::parse(alertmanager_body(notices, {}, teller, noon + 2s)).at_pointer("/0");
  };
  const json::value began = alert(What::ProblemBegan);
  EXPECT_EQ(at(began, "/labels/alertname"), "HeddleProblem");
  EXPECT_EQ(at(began, "/labels/kind"), "lost-links");
  EXPECT_EQ(at(began, "/startsAt"), "2026-11-23T11:59:00.000Z");
  EXPECT_EQ(at(began, "/endsAt"), "2026-11-23T12:05:02.000Z");
  EXPECT_EQ(at(alert(What::ProblemEnded), "/endsAt"), "2026-11-23T12:00:00.000Z");
  // The same alert: Alertmanager knows alerts by their labels.
  EXPECT_EQ(alert(What::ProblemEnded).at("labels"), began.at("labels"));
  EXPECT_EQ(alert(What::ProblemChanged).at("labels"), began.at("labels"));
}

TEST(Bodies, EventsAreAlertsOfTheirOwn) {
  const std::vector<Notice> notices{event(7), event(8)};
  const json::value body = json::parse(alertmanager_body(notices, {}, teller, noon));
  ASSERT_EQ(body.as_array().size(), 2U);
  EXPECT_EQ(at(body, "/0/labels/alertname"), "HeddleEvent");
  EXPECT_NE(body.at_pointer("/0/labels"), body.at_pointer("/1/labels"));
  EXPECT_EQ(at(body, "/1/labels/event"), "8");
}

TEST(Bodies, OpenProblemsAreToldAgain) {
  const std::vector<OpenProblem> open{{"qos", "2 ports differ", noon - 10min}};
  const json::value body = json::parse(alertmanager_body({}, open, teller, noon));
  ASSERT_EQ(body.as_array().size(), 1U);
  EXPECT_EQ(at(body, "/0/labels/kind"), "qos");
  EXPECT_EQ(at(body, "/0/endsAt"), "2026-11-23T12:05:00.000Z");
}

}  // namespace
}  // namespace heddle::notice
