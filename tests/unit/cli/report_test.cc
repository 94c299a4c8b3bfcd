#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <boost/json/parse.hpp>

#include "heddle/prometheus_client.h"
#include "heddle/report_html.h"
#include "heddle/report_places.h"

namespace heddle::cli {
namespace {

using testing::HasSubstr;
using testing::Not;

ReportData two_switches(const std::string& name) {
  ReportData data;
  data.status = boost::json::parse(
      R"({"version":"1","fabric":{"switches":2,"channel_adapters":1},"problems":["<b>"]})");
  data.nodes = {{name, "0x1", 's'}, {"leaf-2", "0x2", 's'}, {"host", "0x3", 'c'}};
  ReportLink link{name + "/1 -- leaf-2/1", "4xHDR", 0, 1, "0x1", 1, {0.5, 0.9, 0.1}, {0.25, 0.3, 0}, 7};
  data.links = {link, ReportLink{"leaf-2/2 -- host/1", "4xHDR", 1, 2, "0x2", 2, {}, {}, 0}};
  data.profiles = {{link.name, {-2, -1, 0}, {0.1, unknown_figure, 0.3}, {0, 0, 0}}};
  data.locality =
      boost::json::parse(R"({"sets":[{"set":"pod","generated":0.5,"consumed":null,"total":0.25}]})");
  data.events =
      boost::json::parse(R"({"events":[{"at":"2026-01-01T00:00:00Z","kind":"off","text":"the older one"},
                                                {"at":"2026-01-02T00:00:00Z","kind":"on","text":"<script>"}]})");
  return data;
}

TEST(Report, HasItsFiguresAndNothingFromElsewhere) {
  const std::string html = report_html(two_switches("leaf-1"));
  for (const char* expected :
       {"50.0 %", "90.0 %", "leaf-1/1 -- leaf-2/1", "25.0 %", "Not available", "<svg", "4xHDR"})
    EXPECT_THAT(html, HasSubstr(expected));
  for (const char* foreign : {"<script", "src=", "href=", "@import", "url("})
    EXPECT_THAT(html, Not(HasSubstr(foreign)));
  EXPECT_LT(html.find("&lt;script&gt;"), html.find("the older one")) << "the latest event comes first";
}

TEST(Report, ShowsHostileNamesAsText) {
  const std::string html = report_html(two_switches("<img src=x onerror=\"alert('1')\">&"));
  EXPECT_THAT(html, HasSubstr("&lt;img src=x onerror=&quot;alert(&#39;1&#39;)&quot;&gt;&amp;"));
  EXPECT_THAT(html, Not(HasSubstr("<img")));
}

TEST(Report, OfNothingSaysSo) {
  ReportData data;
  data.status = boost::json::parse("{}");
  const std::string html = report_html(data);
  EXPECT_THAT(html, HasSubstr("No link has been measured"));
  EXPECT_THAT(html, Not(HasSubstr("nan")));
}

TEST(ReportPlaces, FollowTheLayout) {
  auto data = two_switches("leaf-1");
  place_nodes(boost::json::parse(R"({"layout":{"kind":"levels","level":[0,1,-1]}})"), data);
  EXPECT_DOUBLE_EQ(data.nodes[0].y, 1);
  EXPECT_DOUBLE_EQ(data.nodes[1].y, 0);
  place_nodes(boost::json::parse(R"({"layout":{"kind":"grid","sizes":[2,1],"place":[0,0,1,0,-1,-1]}})"),
              data);
  EXPECT_DOUBLE_EQ(data.nodes[0].x, 0.25);
  EXPECT_DOUBLE_EQ(data.nodes[1].x, 0.75);
  place_nodes(boost::json::parse(R"({"layout":{"kind":"free"}})"), data);
  EXPECT_GT(data.nodes[0].x, 0);
}

TEST(ReportPlaces, CountNumbersWithinNames) {
  EXPECT_TRUE(before("leaf-2", "leaf-10"));
  EXPECT_FALSE(before("leaf-10", "leaf-2"));
  EXPECT_TRUE(before("leaf-2", "leaf-2-1"));
  EXPECT_FALSE(before("leaf-02", "leaf-2"));
  EXPECT_TRUE(before("a", "b"));
}

TEST(PrometheusClient, TakesHttpUrlsOnly) {
  for (const char* good : {"http://localhost:9090", "http://[::1]:9090/prefix/", "http://prometheus"})
    EXPECT_TRUE(PrometheusClient::at(good)) << good;
  for (const char* bad : {"", "localhost:9090", "https://x:9090", "http://", "http://x:port", "http://x:"})
    EXPECT_FALSE(PrometheusClient::at(bad)) << bad;
}

}  // namespace
}  // namespace heddle::cli
