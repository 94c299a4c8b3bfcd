#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <boost/json/parse.hpp>

#include "base/json_access.h"
#include "heddle/command.h"
#include "support/scratch.h"
#include "unit/cli/fake_daemon.h"
#include "unit/cli/run_heddle.h"

namespace heddle::cli {
namespace {

using testing::AllOf;
using testing::ContainsRegex;
using testing::HasSubstr;

Ran run(const std::string& socket, std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), {"--socket", socket});
  return run_heddle({add_link_commands, add_regulation_commands}, arguments);
}
Ran run(const FakeDaemon& daemon, std::vector<std::string> arguments) {
  return run(daemon.path(), std::move(arguments));
}

// As a daemon on a torus of four switches answered.
constexpr const char* regulation = R"({"mode":"enforce","stage":"draining","plane":1,
  "links":{"active":5,"draining":1,"off":2},"power_watts":180.5,"saving_watts":3.8,
  "transitions":{"off":4,"on":2,"reduced":1,"failed":0},
  "problems":["regulation.pin: no link between switches is called \"spine-*\""],
  "spent_joules":7200000,"saved_joules":1800000})";
constexpr const char* plan = R"({"mode":"advise","plan":{"age_seconds":3.2,"off":1,"on":0,
  "changes":[{"link":"sw-0-0/2 -- sw-0-1/3","turn":"off","mode":"off","reason":"trunk at 5 % of 2 links"}],
  "busiest":0.125,"watts_now":15.2,"watts_then":13.3,"watts_least":7.6,"note":"estimated traffic",
  "held":[{"rule":"every switch keeps a path","links":3,"watts":11.4,"example":"sw-0-0/2 -- sw-1-0/3","busiest":0.25},
          {"rule":"hardly less is to get through, of hot spots","links":1,"watts":3.8,"example":"sw-1-0/1 -- sw-1-1/3",
           "busiest":1.04}]}})";
constexpr const char* power_links = R"({"links":[
  {"name":"sw-0-0/2 -- sw-0-1/3","state":"off","mode":"off","full":"4xDDR","exempt":"regulated","wish":"auto",
   "for_seconds":125,"transitions":3,"reason":"trunk at 5 % of 2 links"},
  {"name":"sw-0-0/3 -- sw-0-1/2","state":"active","mode":"1xSDR","full":"4xDDR","exempt":"pinned by the configuration",
   "wish":"pin","for_seconds":7,"transitions":0,"reason":""}]})";
constexpr const char* energy = R"({"power_watts":180.5,"saving_watts":3.8,
  "total":{"spent_joules":7200000,"saved_joules":1800000},"switches":[],
  "links":[{"name":"a/1 -- b/1","spent_joules":1000,"saved_joules":0},
           {"name":"a/2 -- b/2","spent_joules":360,"saved_joules":3600},
           {"name":"a/3 -- b/3","spent_joules":360,"saved_joules":7200}]})";
constexpr const char* account = R"({"power_watts":180.5,"saving_watts":3.8,
  "total":{"spent_joules":7200000,"saved_joules":1800000},"switches":[],"links":[],
  "account":{"links":{"saved_share":0.5},"switches":{"saved_share":0.125},"network":{"saved_share":0.1},
    "year":{"saved_kwh":2191.5,"saved_money":460.2,"price":0.21,"currency":"EUR"},
    "cost":{"turned_off":4,"turned_on":2,"reduced":1,"failed":0,"waited_seconds":9,"longest_wait_seconds":5,
            "always_on":{"pinned by the configuration":3}}}})";
constexpr const char* events = R"({"last":8,"events":[
  {"id":7,"at":"2026-01-01T00:00:00Z","kind":"decided","links":"a/1 -- b/1","text":"off: quiet"},
  {"id":8,"at":"2026-01-01T00:00:02Z","kind":"operator","links":"","text":"regulation is set to off by ada"}]})";

TEST(RegulationCommands, RegulateShowsWhatIsOnAndWhatIsWrong) {
  FakeDaemon daemon{{{"/v1/regulation", {regulation}}}};
  const Ran shown = run(daemon, {"regulate"});
  EXPECT_EQ(shown.status, Status::Done);
  EXPECT_THAT(shown.out, AllOf(HasSubstr("enforce"), HasSubstr("draining"), HasSubstr("2 off"),
                               HasSubstr("180.5 W"), HasSubstr("2.00 kWh spent"), HasSubstr("20.0 %"),
                               HasSubstr("4 turned off"), HasSubstr("no link between switches is called")));
  EXPECT_THAT(run(daemon, {"--json", "regulate"}).out, HasSubstr(R"("stage":"draining")"));
  EXPECT_EQ(run(daemon, {"regulate", "sometimes"}).status, Status::Usage);
}

// The daemon knows the uid by itself: only whom sudo has made root is told.
TEST(RegulationCommands, OrdersSayWhoAskedSudoForThem) {
  setenv("SUDO_USER", "ada", 1);
  FakeDaemon daemon{{{"/v1/regulation", {R"({"text":"regulation: enforce"})"}}}};
  const Ran set = run(daemon, {"regulate", "enforce"});
  unsetenv("SUDO_USER");
  EXPECT_EQ(set.out, "regulation: enforce\n");
  const auto asked = daemon.end();
  ASSERT_EQ(asked.size(), 1U);
  EXPECT_EQ(asked[0].verb, "POST");
  const auto body = boost::json::parse(asked[0].body);
  EXPECT_EQ(text_at(body, "mode"), "enforce");
  EXPECT_EQ(text_at(body, "by"), "ada");
}

TEST(RegulationCommands, AnOrderWithoutSudoSaysNothingOfWhoGivesIt) {
  unsetenv("SUDO_USER");
  setenv("USER", "mallory", 1);
  FakeDaemon daemon{{{"/v1/regulation", {R"({"text":"regulation: enforce"})"}}}};
  run(daemon, {"regulate", "enforce"});
  const auto asked = daemon.end();
  ASSERT_EQ(asked.size(), 1U);
  EXPECT_FALSE(boost::json::parse(asked[0].body).as_object().contains("by"));
}

TEST(RegulationCommands, UidsAreShownAsNames) {
  constexpr const char* orders = R"({"last":2,"events":[
    {"id":1,"at":"2026-01-01T00:00:00Z","kind":"operator","links":"","text":"regulation is set to off by uid 0 for ada"},
    {"id":2,"at":"2026-01-01T00:00:01Z","kind":"operator","links":"","text":"a/1 -- b/1: off, by uid 4294967294"}]})";
  FakeDaemon daemon{{{"/v1/events", {orders}}}};
  EXPECT_EQ(run(daemon, {"events"}).out,
            "2026-01-01T00:00:00Z operator   regulation is set to off by root for ada\n"
            "2026-01-01T00:00:01Z operator   a/1 -- b/1: off, by uid 4294967294\n");
  EXPECT_THAT(run(daemon, {"--json", "events"}).out, HasSubstr("by uid 0 for ada"));
}

TEST(RegulationCommands, PlanSaysWhatWhyAndWhatItSaves) {
  FakeDaemon daemon{{{"/v1/plan", {plan}}}};
  EXPECT_THAT(
      run(daemon, {"plan"}).out,
      AllOf(HasSubstr("sw-0-0/2 -- sw-0-1/3"), HasSubstr("trunk at 5 %"),
            HasSubstr("15.2 W now, 13.3 W then, 7.6 W"), HasSubstr("12.5 %"), HasSubstr("estimated traffic"),
            ContainsRegex("3 +11.4 W +every switch keeps a path +sw-0-0/2 -- sw-1-0/3, 25.0 %"),
            ContainsRegex("of hot spots +sw-1-0/1 -- sw-1-1/3, 104.0 %")));
  FakeDaemon quiet{{{"/v1/plan", {R"({"mode":"advise","plan":{"changes":[],"age_seconds":1}})"}}}};
  EXPECT_THAT(run(quiet, {"plan"}).out, HasSubstr("Nothing is to be changed"));
  quiet.end();
  FakeDaemon young{{{"/v1/plan", {R"({"mode":"advise","plan":null})"}}}};
  EXPECT_THAT(run(young, {"plan"}).out, HasSubstr("no plan yet"));
}

TEST(RegulationCommands, PlanAndRegulateNameLinksThatTookMinutes) {
  const std::string slow = R"("slow":[{"link":"a/1 -- b/1","took_seconds":150}])";
  FakeDaemon daemon{
      {{"/v1/plan", {R"({"mode":"advise","plan":{"changes":[],"age_seconds":1},)" + slow + "}"}},
       {"/v1/regulation", {R"({"mode":"advise",)" + slow + "}"}}}};
  EXPECT_THAT(run(daemon, {"plan"}).out, HasSubstr("took minutes to come back: a/1 -- b/1 (2 min)"));
  EXPECT_THAT(run(daemon, {"regulate"}).out, HasSubstr("a/1 -- b/1 (2 min)"));
}

TEST(RegulationCommands, LinkForgetNamesTheLink) {
  FakeDaemon daemon{
      {{"/v1/link/forget", {R"({"text":"a/1 -- b/1: what it took to come back is forgotten"})"}}}};
  EXPECT_THAT(run(daemon, {"link", "forget", "a/1"}).out, HasSubstr("is forgotten"));
  EXPECT_EQ(run(daemon, {"link", "forget"}).status, Status::Usage);
  const auto asked = daemon.end();
  ASSERT_EQ(asked.size(), 1U);
  EXPECT_EQ(asked[0].target, "/v1/link/forget");
  EXPECT_EQ(text_at(boost::json::parse(asked[0].body), "link"), "a/1");
}

TEST(RegulationCommands, LinksShowTheirPowerStates) {
  FakeDaemon daemon{{{"/v1/links/power", {power_links}}}};
  const std::string text = run(daemon, {"links", "--power"}).out;
  EXPECT_THAT(text, ContainsRegex("sw-0-0/2 -- sw-0-1/3 +off +off +4xDDR +2.* 3 +auto +trunk at 5 %"));
  EXPECT_THAT(text, ContainsRegex("active +1xSDR +4xDDR .*pin +pinned by the configuration"));
}

TEST(RegulationCommands, EnergyNamesTheLinksThatSaveMost) {
  FakeDaemon daemon{{{"/v1/energy", {energy}}}};
  const std::string text = run(daemon, {"energy"}).out;
  EXPECT_THAT(text, AllOf(HasSubstr("2.00 kWh"), HasSubstr("500.0 Wh"), HasSubstr("20.0 %")));
  EXPECT_LT(text.find("a/3 -- b/3"), text.find("a/2 -- b/2"));
  EXPECT_EQ(text.find("a/1 -- b/1"), std::string::npos);  // saved nothing
}

TEST(RegulationCommands, EnergySaysSharesAYearAndWhatItCost) {
  FakeDaemon daemon{{{"/v1/energy", {account}}}};
  const std::string text = run(daemon, {"energy"}).out;
  EXPECT_THAT(text, HasSubstr("50.0 % of link power, 12.5 % of switch power, 10.0 % of network power"));
  EXPECT_THAT(text, HasSubstr("2192 kWh, 460 EUR at 0.21 a kWh saved"));
  EXPECT_THAT(text, HasSubstr("4 turned off, 2 on, 1 reduced, 0 failed; 9.0 s waited"));
  EXPECT_THAT(text, HasSubstr("3 links: pinned by the configuration"));
}

TEST(RegulationCommands, EventsOneALine) {
  FakeDaemon daemon{{{"/v1/events", {events}}}};
  EXPECT_EQ(run(daemon, {"events", "--last", "2"}).out,
            "2026-01-01T00:00:00Z decided    a/1 -- b/1: off: quiet\n"
            "2026-01-01T00:00:02Z operator   regulation is set to off by ada\n");
  const std::string lines = run(daemon, {"--json", "events"}).out;
  EXPECT_EQ(std::count(lines.begin(), lines.end(), '\n'), 2);
  EXPECT_EQ(run(daemon, {"events", "--last", "0"}).status, Status::Usage);
  EXPECT_EQ(daemon.end().front().target, "/v1/events?after=0&most=2");
}

TEST(RegulationCommands, LinkSaysWhatIsWantedWhyAndHowLong) {
  FakeDaemon daemon{{{"/v1/link", {R"({"text":"a/1 -- b/1: off, cable; cuts off host-2/1"})"}},
                     {"/v1/restore", {R"({"text":"everything comes back on"})"}}}};
  const Ran off = run(daemon, {"link", "off", "a/1 -- b/1", "--reason", "cable", "--for", "2h", "--force"});
  EXPECT_THAT(off.out, HasSubstr("cuts off host-2/1"));
  run(daemon, {"link", "auto", "a/1"});
  EXPECT_THAT(run(daemon, {"restore"}).out, HasSubstr("comes back on"));
  EXPECT_EQ(run(daemon, {"link", "off", "a/1", "--for", "soon"}).status, Status::Usage);
  EXPECT_EQ(run(daemon, {"link", "off", "a/1", "--for", "-2h"}).status, Status::Usage);
  EXPECT_EQ(run(daemon, {"link", "on", "a/1", "--force"}).status, Status::Usage);
  EXPECT_EQ(run(daemon, {"link", "off"}).status, Status::Usage);
  const auto asked = daemon.end();
  ASSERT_EQ(asked.size(), 3U);  // what is wrong is not asked
  const auto body = boost::json::parse(asked[0].body);
  EXPECT_EQ(text_at(body, "link"), "a/1 -- b/1");
  EXPECT_EQ(text_at(body, "wish"), "off");
  EXPECT_EQ(text_at(body, "reason"), "cable");
  EXPECT_EQ(number_at(body, "for_seconds"), 7200);
  EXPECT_TRUE(truth_at(body, "force"));
  EXPECT_EQ(text_at(boost::json::parse(asked[1].body), "wish"), "auto");
  EXPECT_EQ(asked[2].target, "/v1/restore");
}

TEST(RegulationCommands, TheDaemonsObjectionIsWhatIsSaid) {
  const char* cut =
      R"({"error":"without a/1 -- b/1 these hosts are cut off: host-2/1; force it to do so all the same"})";
  FakeDaemon daemon{{{"/v1/link", {cut, 409}}}};
  const Ran refused = run(daemon, {"link", "off", "a/1"});
  EXPECT_EQ(refused.status, Status::Failed);
  EXPECT_TRUE(refused.out.empty());
  EXPECT_THAT(refused.err, AllOf(HasSubstr("heddle: without"), HasSubstr("host-2/1")));
}

TEST(RegulationCommands, AbsentOrOddAnswersEndInASentence) {
  const test::Scratch directory;
  const std::string nobody = directory / "control.sock";
  for (const char* command : {"regulate", "plan", "energy", "events", "restore"}) {
    const Ran ran = run(nobody, {command});
    EXPECT_EQ(ran.status, Status::Failed) << command;
    EXPECT_THAT(ran.err, AllOf(HasSubstr("cannot reach heddled"), HasSubstr("systemctl status heddled")))
        << command;
  }
  for (const char* odd : {"no JSON", "[]", "3", R"({"links":7,"plan":[],"events":{"a":1}})"}) {
    FakeDaemon daemon{{{"/v1/regulation", {odd}},
                       {"/v1/plan", {odd}},
                       {"/v1/energy", {odd}},
                       {"/v1/events", {odd}},
                       {"/v1/links/power", {odd}}}};
    for (const char* command : {"regulate", "plan", "energy", "events"}) run(daemon, {command});
    run(daemon, {"links", "--power"});
    EXPECT_EQ(daemon.end().size(), 5U) << odd;
  }
}

}  // namespace
}  // namespace heddle::cli
