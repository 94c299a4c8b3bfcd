#include "notice/syslog.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <regex>

#include "base/printable.h"

namespace heddle::notice {
namespace {

using namespace std::chrono_literals;
using testing::EndsWith;
using testing::HasSubstr;
using testing::Not;

const WallTime half_past_two{std::chrono::milliseconds{1'795'401'067'250}};
const SyslogSource source{{"sm-1", "north"}, 812};

Notice a_problem() {
  return {17,
          half_past_two,
          What::ProblemBegan,
          "lost-links",
          {},
          "1 link is down: leaf-1/3",
          half_past_two - 5s};
}

TEST(Syslog, ANoticeIsAMessageWithStructuredData) {
  EXPECT_EQ(syslog_message(a_problem(), source, most_datagram),
            "<28>1 2026-11-23T02:31:07.250Z sm-1 heddled 812 lost-links "
            "[heddle@32473 id=\"17\" what=\"began\" kind=\"lost-links\" fabric=\"north\" "
            "since=\"2026-11-23T02:31:02.250Z\"] \xef\xbb\xbf"
            "1 link is down: leaf-1/3");
}

// Facility 3 (daemon): 24 and the severity.
TEST(Syslog, TheSeverityIsInThePriority) {
  Notice notice = a_problem();
  notice.what = What::ProblemEnded;
  EXPECT_THAT(syslog_message(notice, source, most_datagram), testing::StartsWith("<29>1 "));
  notice.what = What::Event;
  notice.kind = "confirmed";
  EXPECT_THAT(syslog_message(notice, source, most_datagram), testing::StartsWith("<30>1 "));
  notice.kind = "failed";
  EXPECT_THAT(syslog_message(notice, source, most_datagram), testing::StartsWith("<28>1 "));
}

// RFC 5424, 6.3.3.
TEST(Syslog, WhatEndsAParameterIsEscaped) {
  Notice notice{1, half_past_two, What::Event, "decided", R"(a"b\c]d -- e)", "text", {}};
  EXPECT_THAT(syslog_message(notice, source, most_datagram), HasSubstr(R"( links="a\"b\\c\]d -- e"])"));
}

TEST(Syslog, FieldsOfTheHeaderHaveNoBlanksAndAreNeverEmpty) {
  Notice notice = a_problem();
  notice.kind = "a kind of its own";
  EXPECT_THAT(syslog_message(notice, {{"", ""}, 1}, most_datagram),
              HasSubstr("Z - heddled 1 a?kind?of?its?own ["));
  EXPECT_THAT(syslog_message(notice, {{"h\u00f6st", ""}, 1}, most_datagram), HasSubstr(" h??st heddled "));
}

TEST(Syslog, OverTcpTheLengthStandsBefore) { EXPECT_EQ(framed("\xef\xbb\xbf<5>"), "6 \xef\xbb\xbf<5>"); }

// Whatever stands in a node description: one line, of the form of the standard, within its bound.
RC_GTEST_PROP(SyslogProperty, HostileTextsMakeOneLineWithinItsBound,
              (std::string kind, std::string links, std::string text)) {
  const auto many = *rc::gen::inRange<std::size_t>(0, 40);
  std::string longer;
  for (std::size_t i = 0; i < many; ++i) longer += text + "\"]\\\n\u00e4<1>1 ";
  const Notice notice = bounded({1, half_past_two, What::Event, kind, links + longer, longer, {}});
  RC_ASSERT(notice.kind.size() <= most_kind);
  RC_ASSERT(notice.links.size() <= most_links);
  RC_ASSERT(notice.text.size() <= most_text);
  const std::string message = syslog_message(notice, source, most_datagram);
  RC_ASSERT(message.size() <= most_datagram);
  RC_ASSERT(message.find('\n') == std::string::npos);
  static const std::regex form{
      "<30>1 [0-9TZ:.-]+ sm-1 heddled 812 [!-~]{1,32} "
      "\\[heddle@32473( [a-z]+=\"([^\"\\\\\\]]|\\\\[\"\\\\\\]])*\")+\\] \xef\xbb\xbf[^\\x00-\\x1f]*"};
  RC_ASSERT(notice.kind == "failed" || notice.kind == "lost" || notice.kind == "excluded" ||
            std::regex_match(message, form));
  // Nothing was cut within a character.
  const auto from = message.find("\xef\xbb\xbf") + 3;
  RC_ASSERT(printable(message.substr(from)) == message.substr(from));
}

TEST(Notice, WhatIsCutSaysSoAndEndsBetweenTwoCharacters) {
  EXPECT_EQ(cut("leaf-1", 6), "leaf-1");
  EXPECT_EQ(cut("leaf-12", 6), "lea...");
  EXPECT_EQ(cut("a\u00e4\u00e4\u00e4", 6), "a\u00e4...");
  EXPECT_EQ(cut("\u00e4\u00e4\u00e4\u00e4", 6), "\u00e4...");
  EXPECT_EQ(cut("abcd", 2), "..");
}

}  // namespace
}  // namespace heddle::notice
