#include "heddle/top_screen.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <boost/json/parse.hpp>

#include "base/printable.h"

namespace heddle::cli {
namespace {

using testing::HasSubstr;
using testing::Not;

boost::json::value two_links() {
  return boost::json::parse(R"({"matched":50,"links":[
    {"name":"leaf-0/1 -- spine-1/2","width":"4x","speed":"HDR","state":"Active",
     "a_to_b":{"utilization":0.5,"congestion":0.25,"errors_total":3},
     "b_to_a":{"utilization":null,"congestion":0,"errors_total":4}},
    {"name":"leaf-1/1 -- spine-1/3","width":"4x","speed":"HDR","state":"Down","a_to_b":{},"b_to_a":{}}]})");
}

std::size_t characters(const std::string& text) {
  return static_cast<std::size_t>(
      std::count_if(text.begin(), text.end(), [](char c) { return (c & 0xc0) != 0x80; }));
}

TEST(TopScreen, FillsTheScreenExactly) {
  TopScreen screen{"utilization"};
  screen.rows(two_links());
  for (const ScreenSize size : {ScreenSize{80, 24}, ScreenSize{200, 60}, ScreenSize{60, 8}}) {
    const auto lines = screen.lines(size);
    ASSERT_EQ(lines.size(), size.rows);
    for (const auto& line : lines) EXPECT_EQ(characters(line), size.columns) << line;
  }
}

TEST(TopScreen, ShowsFiguresAndWhatIsNotKnown) {
  TopScreen screen{"utilization"};
  screen.rows(two_links());
  const auto lines = screen.lines({80, 24});
  EXPECT_THAT(lines[4], testing::MatchesRegex("leaf-0/1 -- spine-1/2 +4xHDR +50.0 % +- +25.0 % +0.0 % +7"));
  EXPECT_THAT(lines[5], HasSubstr("Down"));
  EXPECT_THAT(lines[2], HasSubstr("from 1 of 50"));
}

TEST(TopScreen, ShowsBitErrorsWhereThereIsRoomOrTheyAreAskedFor) {
  TopScreen screen{"utilization"};
  auto links = two_links();
  links.at("links").at(0).at("a_to_b").as_object()["effective_ber"] = nullptr;
  links.at("links").at(0).at("b_to_a").as_object()["effective_ber"] = 1.21e-13;
  screen.rows(links);
  EXPECT_THAT(screen.lines({80, 24})[3], Not(HasSubstr("BER")));
  EXPECT_THAT(screen.lines({89, 24})[3], testing::EndsWith("ERRORS      BER"));
  EXPECT_THAT(screen.lines({89, 24})[4], testing::EndsWith(" 7  1.2e-13"));
  EXPECT_THAT(screen.lines({89, 24})[5], testing::EndsWith(" 0  unknown"));
  screen.type("b");
  EXPECT_EQ(screen.target({80, 24}), "/v1/links?sort=ber&top=19");
  EXPECT_THAT(screen.lines({80, 24})[4], testing::StartsWith("leaf-0/1 -- spine-1/2 "));
  EXPECT_THAT(screen.lines({80, 24})[4], testing::EndsWith(" 1.2e-13"));
}

TEST(TopScreen, KeysSortScrollAndLeave) {
  TopScreen screen{"utilization"};
  EXPECT_EQ(screen.target({80, 24}), "/v1/links?sort=utilization&top=19");
  screen.rows(two_links());
  EXPECT_EQ(screen.type("e"), TopScreen::Wish::Stay);
  screen.type("\033[B\033[B");
  EXPECT_EQ(screen.target({80, 24}), "/v1/links?sort=errors&top=21");
  screen.type("\033[F");
  EXPECT_EQ(screen.target({80, 24}), "/v1/links?sort=errors&top=50");
  screen.type("k");
  EXPECT_EQ(screen.target({80, 24}), "/v1/links?sort=errors&top=19&kind=switch");
  screen.type("\033[A\033[5~\033[1~");
  EXPECT_EQ(screen.target({80, 24}), "/v1/links?sort=errors&top=19&kind=switch");
  EXPECT_EQ(screen.type("\033[99q"), TopScreen::Wish::Stay) << "no key of ours";
  EXPECT_EQ(screen.type("xq"), TopScreen::Wish::Leave);
}

TEST(TopScreen, SaysWhatIsWrong) {
  TopScreen screen{"utilization"};
  screen.problem("heddled does not answer");
  EXPECT_THAT(screen.lines({80, 24})[0], HasSubstr("heddled does not answer"));
}

TEST(TopScreen, ShowsJobs) {
  TopScreen screen{"utilization"};
  screen.rows(two_links());
  screen.type("t");
  EXPECT_EQ(screen.target({80, 24}), "/v1/jobs?top=19");
  screen.rows(two_links());
  EXPECT_THAT(screen.lines({80, 24})[2], HasSubstr("jobs by what they send, from 0 of 0"))
      << "links came late";
  const auto jobs = boost::json::parse(R"({"left_out":7,"trouble":"","jobs":[
    {"job":"cfd","user":"ann","hosts":8,"injected_bytes_per_second":5e10,"leaves_leaf":0.947,
     "leaves_leaf_exact":false,"neighbours":[{"job":"md"}],
     "worst_link":{"from":"leaf-0/9","to":"spine-0/1","utilization":1}},
    {"job":"idle","user":"","hosts":2,"injected_bytes_per_second":0,"leaves_leaf":null,
     "leaves_leaf_exact":true,"neighbours":[],"worst_link":null}]})");
  screen.rows(jobs);
  const auto lines = screen.lines({80, 24});
  EXPECT_THAT(lines[2], HasSubstr("from 1 of 9"));
  EXPECT_THAT(lines[3], testing::StartsWith("JOB"));
  EXPECT_THAT(lines[4],
              testing::MatchesRegex("cfd +ann +8 +400.0 Gbit/s +~94.7 % +1 +100.0 % leaf-0/9 -> sp.*"));
  EXPECT_THAT(lines[5], testing::MatchesRegex("idle +2 +0 bit/s +- +0 +- +"));
  for (const auto& line : lines) EXPECT_EQ(characters(line), 80U) << line;
  screen.type("\033[F");
  EXPECT_EQ(screen.target({80, 8}), "/v1/jobs?top=3") << "all of nine fit a screen of nineteen";
  screen.type("et");
  EXPECT_EQ(screen.target({80, 24}), "/v1/links?sort=utilization&top=19") << "e is a key of links";
}

TEST(TopScreen, CountsWhatHealthHasFound) {
  TopScreen screen{"utilization"};
  screen.status(boost::json::parse(R"({"fabric": {}, "health": {"sure": 2, "likely": 1}})"));
  EXPECT_THAT(screen.lines({120, 24})[1], HasSubstr("; health: 3 found"));
  screen.status(boost::json::parse(R"({"fabric": {}, "health": {"sure": 0, "likely": 0}})"));
  EXPECT_THAT(screen.lines({120, 24})[1], Not(HasSubstr("health")));
}

TEST(TopScreen, TellsWhatIsDrained) {
  TopScreen screen{"utilization"};
  screen.status(
      boost::json::parse(R"({"fabric": {}, "drains": [{"safe_to_pull": true}, {"safe_to_pull": false}]})"));
  EXPECT_THAT(screen.lines({120, 24})[1], HasSubstr("; 2 drained, not safe to pull"));
  screen.status(boost::json::parse(R"({"fabric": {}, "drains": [{"safe_to_pull": true}]})"));
  EXPECT_THAT(screen.lines({120, 24})[1], AllOf(HasSubstr("; 1 drained"), Not(HasSubstr("not safe"))));
  screen.status(boost::json::parse(R"({"fabric": {}, "drains": []})"));
  EXPECT_THAT(screen.lines({120, 24})[1], Not(HasSubstr("drained")));
}

TEST(Fitted, CutsBetweenCharacters) {
  EXPECT_EQ(fitted("häddle", 6), "häddle");
  EXPECT_EQ(fitted("häddle", 4), "häd~");
  EXPECT_EQ(fitted("hää", 2), "h~");
  EXPECT_EQ(fitted("ab", 4, Side::Right), "  ab");
  EXPECT_EQ(fitted("ab", 0), "");
}

RC_GTEST_PROP(Fitted, IsAsWideAsAsked, (std::string bytes)) {
  const auto width = *rc::gen::inRange<std::size_t>(0, 30);
  RC_ASSERT(characters(fitted(printable(bytes), width)) == width);
}

}  // namespace
}  // namespace heddle::cli
