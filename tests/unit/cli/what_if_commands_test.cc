/// `heddle what-if`: what is lost, by names, in text and in JSON.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <boost/json/parse.hpp>
#include <vector>

#include "heddle/command.h"
#include "heddle/json_access.h"
#include "unit/cli/run_heddle.h"

namespace heddle::cli {
namespace {

using testing::HasSubstr;

Ran say_what_if(const std::vector<std::string>& arguments) {
  return run_heddle({add_what_if_commands}, arguments);
}

/// Of two leaves with two hosts each, under two spines.
Ran what_if(std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), {"--json", "what-if", "--fabric", "tree:k=2,n=2"});
  return say_what_if(arguments);
}

TEST(WhatIf, ASpineDoublesTheLoadAndALeafTakesItsHosts) {
  const auto spine = what_if({"--without", "spine-0"});
  ASSERT_EQ(spine.status, Status::Done) << spine.err;
  const auto without_spine = boost::json::parse(spine.out);
  EXPECT_EQ(without_spine.at("then").at("largest_load").to_number<double>(),
            2 * without_spine.at("now").at("largest_load").to_number<double>());
  EXPECT_TRUE(without_spine.at("then").at("cut_off").as_array().empty());
  const auto both = what_if({"--without", "leaf-1", "--without", "spine-0"});
  ASSERT_EQ(both.status, Status::Done) << both.err;
  const auto without_both = boost::json::parse(both.out);
  EXPECT_EQ(without_both.at("then").at("cut_off").as_array().size(), 2U);
  EXPECT_EQ(without_both.at("then").at("pairs_cut").to_number<double>(), 10);
}

TEST(WhatIf, EachFailureByItselfTheWorstFirst) {
  const auto switches = what_if({"--fail-each", "switch"});
  ASSERT_EQ(switches.status, Status::Done) << switches.err;
  const auto answer = boost::json::parse(switches.out);
  const auto& failures = answer.at("failures").as_array();
  ASSERT_EQ(failures.size(), 4U);
  EXPECT_THAT(std::string(failures[0].at("without").as_string()), HasSubstr("leaf"));
  EXPECT_THAT(std::string(failures[3].at("without").as_string()), HasSubstr("spine"));
  const auto links = what_if({"--fail-each", "link"});
  ASSERT_EQ(links.status, Status::Done) << links.err;
  const auto of_links = boost::json::parse(links.out);
  ASSERT_EQ(of_links.at("failures").as_array().size(), 4U);
  for (const auto& failure : of_links.at("failures").as_array()) {
    EXPECT_TRUE(failure.at("cut_off").as_array().empty());
  }
}

double largest_then(const Ran& ran) {
  EXPECT_EQ(ran.status, Status::Done) << ran.err;
  return boost::json::parse(ran.out).at("then").at("largest_load").to_number<double>();
}

TEST(WhatIf, WithOtherRootsOrMoreLids) {
  // Hosts at all switches of a ring: the way over the last one, far from the root, is closed.
  const std::vector<std::string> ring{"--json", "what-if", "--fabric", "torus:5,hosts=1"};
  const auto with = [&](std::vector<std::string> more) {
    more.insert(more.begin(), ring.begin(), ring.end());
    return say_what_if(more);
  };
  const auto other = with({"--roots", "sw-3"});
  ASSERT_EQ(other.status, Status::Done) << other.err;
  const auto answer = boost::json::parse(other.out);
  EXPECT_EQ(answer.at("then").at("pairs_without_path").to_number<double>(), 0);
  EXPECT_EQ(answer.at("then").at("largest_load"), answer.at("now").at("largest_load"))
      << "it looks the same from all";
  EXPECT_LE(largest_then(what_if({"--lmc", "1"})), largest_then(what_if({"--lmc", "0"})));
  EXPECT_GT(largest_then(what_if({"--lmc", "1", "--without", "spine-0"})),
            largest_then(what_if({"--lmc", "1"})));
  EXPECT_THAT(with({"--roots", "nobody"}).err, HasSubstr("--roots"));
  EXPECT_EQ(with({"--lmc", "9"}).status, Status::Usage);
  EXPECT_EQ(with({"--fail-each", "switch", "--lmc", "1"}).status, Status::Failed);
}

TEST(WhatIf, TellsPeopleTheSame) {
  const std::vector<std::string> tree{"what-if", "--fabric", "tree:k=2,n=2"};
  auto leaf = tree;
  leaf.insert(leaf.end(), {"--without", "leaf-1"});
  EXPECT_THAT(say_what_if(leaf).out, HasSubstr("cut off: host-"));
  auto each = tree;
  each.insert(each.end(), {"--fail-each", "switch", "--top", "1"});
  EXPECT_THAT(say_what_if(each).out, HasSubstr("2 of 4 leave every host its paths to all others"));
  EXPECT_THAT(say_what_if(each).out, HasSubstr("and 3 more (--top)"));
}

TEST(WhatIf, GivesNoFigureOfWhatIsNotMeasured) {
  for (const char* option : {"--top", "--samples"}) {
    for (const char* value : {"-1", "x"}) {
      EXPECT_EQ(what_if({"--fail-each", "link", option, value}).status, Status::Usage) << option << value;
    }
  }
  const auto unmeasured = what_if({"--without", "leaf-1", "--samples", "0"});
  EXPECT_TRUE(boost::json::parse(unmeasured.out).at("then").at("effective_bisection").is_null());
}

TEST(WhatIf, SaysWhatItDoesNotKnow) {
  EXPECT_THAT(what_if({"--without", "leaf-7"}).err, HasSubstr("leaf-7"));
  EXPECT_THAT(what_if({"--without", "leaf-1/77"}).err, HasSubstr("no port 77"));
  EXPECT_THAT(what_if({}).err, HasSubstr("one of --without"));
  EXPECT_THAT(what_if({"--without", "leaf-1", "--engine", "nue"}).err, HasSubstr("no engine \"nue\""));
}

}  // namespace
}  // namespace heddle::cli
