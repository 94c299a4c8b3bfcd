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
  EXPECT_THAT(what_if({}).err, HasSubstr("either --without"));
  EXPECT_THAT(what_if({"--without", "leaf-1", "--engine", "nue"}).err, HasSubstr("no engine \"nue\""));
}

}  // namespace
}  // namespace heddle::cli
