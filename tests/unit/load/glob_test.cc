#include "load/glob.h"

#include <gtest/gtest.h>

#include <string>

namespace heddle::load {
namespace {

TEST(Glob, Stars) {
  EXPECT_TRUE(glob_matches("rack1-*", "rack1-node7 HCA-1"));
  EXPECT_TRUE(glob_matches("*7*", "rack1-node7 HCA-1"));
  EXPECT_TRUE(glob_matches("*", ""));
  EXPECT_FALSE(glob_matches("rack1-*", "rack10-node7"));
  EXPECT_TRUE(glob_matches("a*b*c", "aXbYbZc"));
  EXPECT_FALSE(glob_matches("a*b*c", "aXbYbZ"));
}

TEST(Glob, Sets) {
  EXPECT_TRUE(glob_matches("node[1-3]", "node2"));
  EXPECT_FALSE(glob_matches("node[1-3]", "node4"));
  EXPECT_TRUE(glob_matches("node[!1-3]", "node4"));
  EXPECT_TRUE(glob_matches("node[]x]", "node]"));
  EXPECT_TRUE(glob_matches("node[1", "node[1"));
}

TEST(Glob, AHostilePatternIsNotSlow) {
  std::string pattern;
  for (int i = 0; i < 200; ++i) pattern += "a*";
  EXPECT_FALSE(glob_matches(pattern + "b", std::string(5000, 'a')));
}

}  // namespace
}  // namespace heddle::load
