#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>

#include "fabric/generators.h"
#include "fabric/ibnetdiscover.h"
#include "unit/cli/fake_daemon.h"
#include "unit/cli/run_heddle.h"

namespace heddle::cli {
namespace {

using testing::AllOf;
using testing::HasSubstr;

/// Of two leaves with two hosts each, under two spines.
FakeDaemon::Answer tree() {
  const auto fabric = assign_lids(**generate("tree:k=2,n=2"), 0);
  const boost::json::object twin{{"fabric", write_ibnetdiscover(**fabric)}, {"down", boost::json::array{}}};
  return {boost::json::serialize(twin)};
}

constexpr const char* drained =
    R"({"text":"spine-1 is drained: 2 of its links go off and stay off","what":"spine-1",
  "drains":[{"what":"spine-1","safe_to_pull":true,"links":2,"off":2,"on":0,"switches":1,"away":["0x1"],
             "with_hosts":false,"reason":"a fan","by":"uid 0 for ann","for_seconds":5,"ends_in_seconds":7195}]})";
constexpr const char* under_way =
    R"({"text":"leaf-0/3 -- spine-0/1 is drained","what":"leaf-0/3 -- spine-0/1",
  "drains":[{"what":"leaf-0/3 -- spine-0/1","safe_to_pull":false,"links":1,"off":0,"on":1,"switches":0,"away":[],
             "with_hosts":false,"reason":"","by":"uid 0","for_seconds":1,"ends_in_seconds":null}]})";

Ran run_drain(const FakeDaemon& daemon, std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), {"--socket", daemon.path()});
  return run_heddle({add_drain_commands}, arguments);
}

TEST(DrainCommands, SaysWhatItCostsAndWhenItIsSafe) {
  FakeDaemon daemon{{{"/v1/drain", {drained}}, {"/v1/twin", tree()}}};
  const Ran ran = run_drain(daemon, {"drain", "spine-1", "--for", "2h", "--reason", "a fan"});
  EXPECT_EQ(ran.status, Status::Done) << ran.err;
  EXPECT_THAT(
      ran.out,
      AllOf(HasSubstr("2 of its links go off"), HasSubstr("busiest cable, times now  1.00  2.00"),
            HasSubstr("on one cable: leaf-0, leaf-1; it is the last one of 4 hosts"),
            HasSubstr("spine-1: safe to pull, or away already"), HasSubstr("ends in"), HasSubstr("a fan")));
  const auto& asked = daemon.end();
  ASSERT_EQ(asked.size(), 3U);
  EXPECT_EQ(asked[1].verb, "POST");
  const auto body = boost::json::parse(asked[1].body);
  EXPECT_EQ(body.at("what"), boost::json::parse(R"(["spine-1"])"));
  EXPECT_EQ(body.at("for_seconds").to_number<double>(), 7200);
  EXPECT_FALSE(body.as_object().contains("with_hosts"));
}

TEST(DrainCommands, WhatAPatternCostsIsWhatItsSwitchesCost) {
  FakeDaemon daemon{{{"/v1/drain", {drained}}, {"/v1/twin", tree()}}};
  const Ran ran = run_drain(daemon, {"drain", "spine-[1-9]"});
  EXPECT_EQ(ran.status, Status::Done) << ran.err;
  EXPECT_THAT(ran.out, HasSubstr("busiest cable, times now  1.00  2.00"));
}

TEST(DrainCommands, TheSameInJson) {
  FakeDaemon daemon{{{"/v1/drain", {drained}}, {"/v1/twin", tree()}}};
  const Ran ran = run_drain(daemon, {"--json", "drain", "spine-1", "--with-hosts", "--chassis"});
  ASSERT_EQ(ran.status, Status::Done) << ran.err;
  const auto answer = boost::json::parse(ran.out);
  EXPECT_TRUE(answer.at("drain").at("safe_to_pull").as_bool());
  EXPECT_EQ(answer.at("cost").at("then").at("largest_load").to_number<double>(),
            2 * answer.at("cost").at("now").at("largest_load").to_number<double>());
  const auto body = boost::json::parse(daemon.end()[1].body);
  EXPECT_TRUE(body.at("with_hosts").as_bool());
  EXPECT_TRUE(body.at("chassis").as_bool());
}

TEST(DrainCommands, WhatIsNotSafeInTimeIsAFailureThatGoesOn) {
  FakeDaemon daemon{{{"/v1/drain", {under_way}}, {"/v1/twin", tree()}}};
  const Ran late = run_drain(daemon, {"drain", "leaf-0/3", "--wait", "0.3"});
  EXPECT_EQ(late.status, Status::Failed);
  EXPECT_THAT(late.err, HasSubstr("not safe to pull yet: 1 of its links are still in use"));
  const Ran at_once = run_drain(daemon, {"drain", "leaf-0/3", "--wait", "0"});
  EXPECT_EQ(at_once.status, Status::Done);
  EXPECT_THAT(at_once.out, HasSubstr("NOT safe to pull, 1 of 1 links still in use"));
}

TEST(DrainCommands, RefusalsAreTheDaemonsWords) {
  FakeDaemon daemon{{{"/v1/drain", {R"({"error":"without leaf-0 these hosts are cut off: host-0"})", 403}},
                     {"/v1/twin", tree()}}};
  const Ran ran = run_drain(daemon, {"drain", "leaf-0"});
  EXPECT_EQ(ran.status, Status::Failed);
  EXPECT_THAT(ran.err, HasSubstr("these hosts are cut off: host-0"));
  EXPECT_EQ(run_drain(daemon, {"drain", "leaf-0", "--end", "--for", "2h"}).status, Status::Usage);
}

TEST(DrainCommands, WhatIsNoTimeIsWrongUsage) {
  FakeDaemon daemon{{{"/v1/drain", {drained}}, {"/v1/twin", tree()}}};
  for (const char* wrong : {"soon", "-2h", "0", "2 fortnights", "inf", "nan", "2hh", ""}) {
    const Ran ran = run_drain(daemon, {"drain", "spine-1", "--for", wrong});
    EXPECT_EQ(ran.status, Status::Usage) << wrong;
    EXPECT_THAT(ran.err, AllOf(HasSubstr("--for"), HasSubstr("must be a time such as 90s"))) << wrong;
  }
  EXPECT_TRUE(daemon.end().empty()) << "nothing is asked for";
}

TEST(DrainCommands, ListsAndEnds) {
  FakeDaemon daemon{{{"/v1/drain", {drained}}}};
  EXPECT_THAT(
      run_drain(daemon, {"drain"}).out,
      HasSubstr("spine-1: safe to pull, or away already; drained 5.0 s ago by root for ann, ends in"));
  EXPECT_EQ(run_drain(daemon, {"drain", "--end"}).status, Status::Done);
  const auto body = boost::json::parse(daemon.end()[1].body);
  EXPECT_TRUE(body.at("end").as_bool());
  EXPECT_TRUE(body.at("what").as_array().empty());
  FakeDaemon none{{{"/v1/drain", {R"({"drains":[]})"}}}};
  EXPECT_EQ(run_drain(none, {"drain"}).out, "Nothing is drained.\n");
}

}  // namespace
}  // namespace heddle::cli
