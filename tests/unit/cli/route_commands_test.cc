/// `heddle route`: tables out to a file, and proved or refuted from it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <boost/json/parse.hpp>
#include <fstream>
#include <vector>

#include "base/json_access.h"
#include "heddle/command.h"
#include "support/scratch.h"
#include "unit/cli/run_heddle.h"

namespace heddle::cli {
namespace {

using testing::ContainsRegex;
using testing::HasSubstr;

class RouteCommands : public testing::Test {
 protected:
  std::string file(const std::string& name) const { return directory_ / name; }
  std::string written(const std::string& name, const std::string& text) {
    std::ofstream{file(name)} << text;
    return file(name);
  }

 private:
  const test::Scratch directory_;
};

TEST_F(RouteCommands, WhatIsComputedIsProved) {
  const std::string lfts = file("t.lfts");
  const auto computed = run_heddle(
      {add_route_commands}, {"route", "compute", "--fabric", "tree:k=3,n=2", "--lmc", "1", "--lfts", lfts});
  EXPECT_EQ(computed.status, Status::Done) << computed.err;
  EXPECT_THAT(computed.out, HasSubstr("proved"));
  const auto checked =
      run_heddle({add_route_commands}, {"route", "check", "--fabric", "tree:k=3,n=2", "--lfts", lfts});
  EXPECT_EQ(checked.status, Status::Done) << checked.err;
  EXPECT_THAT(checked.out, HasSubstr("0 broken"));
}

TEST_F(RouteCommands, WhatIsNotMeasuredHasNoFigure) {
  const std::vector<std::string> compute{"route", "compute", "--fabric", "tree:k=2,n=2", "--samples", "0"};
  EXPECT_THAT(run_heddle({add_route_commands}, compute).out, ContainsRegex("1\\.000 +- +- +- +1"));
}

TEST_F(RouteCommands, MinhopOnATorusIsRefutedWithACycle) {
  const std::string lfts = file("t.lfts");
  const auto computed = run_heddle({add_route_commands}, {"route", "compute", "--fabric", "torus:5x5",
                                                          "--engine", "minhop", "--lfts", lfts});
  EXPECT_THAT(computed.err, HasSubstr("deadlock"));
  const auto checked =
      run_heddle({add_route_commands}, {"--json", "route", "check", "--fabric", "torus:5x5", "--lfts", lfts});
  EXPECT_EQ(checked.status, Status::Failed);
  const auto answer = boost::json::parse(checked.out);
  EXPECT_EQ(text_at(array_at(answer, "findings").at(0), "fault"), "deadlock");
  EXPECT_GE(array_at(array_at(answer, "findings").at(0), "steps").size(), 3U);
}

TEST_F(RouteCommands, ATransitionIsRefutedOrProved) {
  const std::string before = file("a.lfts");
  const std::string after = file("b.lfts");
  const std::string fabric = "tree:k=2,n=2";
  run_heddle({add_route_commands}, {"route", "compute", "--fabric", fabric, "--lfts", before});
  const auto off = run_heddle({add_route_commands}, {"route", "compute", "--fabric", fabric, "--without",
                                                     "leaf-0/3", "--lfts", after});
  EXPECT_EQ(off.status, Status::Done) << off.err;
  EXPECT_EQ(
      run_heddle({add_route_commands}, {"route", "check", "--fabric", fabric, "--transition", before, before})
          .status,
      Status::Done);
  // A spine that loses its way down must be written after those that send packets to it.
  const auto mixed =
      run_heddle({add_route_commands}, {"route", "check", "--fabric", fabric, "--transition", before, after});
  EXPECT_EQ(mixed.status, Status::Failed);
  EXPECT_THAT(mixed.out, HasSubstr("[table 1]"));
}

TEST_F(RouteCommands, CompareShowsWhyAnEngineRefuses) {
  const auto outcome = run_heddle({add_route_commands}, {"route", "compare", "--fabric", "tree:k=3,n=2"});
  EXPECT_EQ(outcome.status, Status::Done);
  EXPECT_THAT(outcome.out, HasSubstr("dor: this is no mesh or torus"));
}

TEST_F(RouteCommands, BadInputIsSaidWithItsName) {
  const std::string fabric = "tree:k=2,n=2";
  const auto twice = run_heddle({add_route_commands}, {"route", "compute", "--fabric", fabric, "--without",
                                                       "leaf-0/3", "--without", "leaf-0/3"});
  EXPECT_EQ(twice.status, Status::Failed);
  EXPECT_THAT(twice.err, HasSubstr("named twice"));
  const auto root = run_heddle({add_route_commands}, {"route", "compute", "--fabric", fabric, "--roots",
                                                      written("r", "# tops\n0xbad\n")});
  EXPECT_THAT(root.err, HasSubstr("root 0x0000000000000bad is no switch"));
  const auto word = run_heddle({add_route_commands},
                               {"route", "compute", "--fabric", fabric, "--roots", written("r", "spine\n")});
  EXPECT_THAT(word.err, HasSubstr("r:1: \"spine\" is no GUID"));
  const auto dump = run_heddle({add_route_commands},
                               {"route", "check", "--fabric", fabric, "--lfts", written("x", "hello\n")});
  EXPECT_THAT(dump.err, HasSubstr("x:1:"));
  EXPECT_THAT(
      run_heddle({add_route_commands}, {"route", "compute", "--fabric", fabric, "--engine", "lash"}).err,
      HasSubstr("lash"));
}

}  // namespace
}  // namespace heddle::cli
