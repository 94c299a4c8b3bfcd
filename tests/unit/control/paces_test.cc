#include "control/paces.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace heddle::control {
namespace {

using namespace std::chrono_literals;

class PacesTest : public testing::Test {
 protected:
  static Paces::Time at(std::chrono::milliseconds since) { return Paces::Time{} + since; }
  void asked(std::chrono::milliseconds since, const std::string& key = "m", const std::string& peer = "a") {
    paces.asked(key, peer, at(since));
  }
  std::vector<std::string> due(std::chrono::milliseconds from, std::chrono::milliseconds by) {
    std::vector<std::string> keys;
    for (const auto& each : paces.due(at(from), at(by))) keys.push_back(each.key);
    return keys;
  }

  Paces paces{3};
};

TEST_F(PacesTest, ANewcomerIsTakenForAScraper) {
  asked(0s);
  EXPECT_TRUE(due(1s, 14s).empty());
  EXPECT_THAT(due(14s, 16s), testing::ElementsAre("m"));
  EXPECT_TRUE(due(14s, 100s).empty()) << "said twice";
  asked(60s);
  EXPECT_TRUE(due(61s, 119s).empty());
  EXPECT_THAT(due(119s, 121s), testing::ElementsAre("m"));
}

TEST_F(PacesTest, WhoAsksTwiceAtOnceIsNone) {
  for (const auto each : {0ms, 300ms}) asked(each);
  EXPECT_TRUE(due(300ms, 100s).empty());
}

TEST_F(PacesTest, TwoLikeGapsMakeAPace) {
  for (const auto each : {0s, 10s, 15s}) asked(each);
  EXPECT_TRUE(due(15s, 100s).empty());
  asked(20s);
  EXPECT_THAT(due(24s, 26s), testing::ElementsAre("m"));
  asked(30s + 40ms);
  EXPECT_TRUE(due(31s, 100s).empty());
  asked(40s);
  EXPECT_THAT(due(49s, 51s), testing::ElementsAre("m"));
}

TEST_F(PacesTest, WhatIsAwaitedIsAwaitedForAWhile) {
  for (const auto each : {0s, 15s}) asked(each);
  asked(30s + 40ms);
  EXPECT_TRUE(due(31s, 45s).empty());
  const auto found = paces.due(at(44s), at(46s));
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].key, "m");
  EXPECT_GT(found[0].until, at(45s + 80ms));
  EXPECT_LT(found[0].until, at(46s));
  EXPECT_TRUE(due(44s, 46s).empty()) << "said twice";
  asked(45s);
  EXPECT_THAT(due(45s, 61s), testing::ElementsAre("m"));
}

TEST_F(PacesTest, OtherGapsMakeNone) {
  for (const auto each : {0s, 15s, 20s, 60s, 61s}) asked(each);
  EXPECT_TRUE(due(61s, 1000s).empty());
}

TEST_F(PacesTest, WhoIsLateIsNotAwaited) {
  for (const auto each : {0s, 15s, 30s}) asked(each);
  EXPECT_TRUE(due(50s, 51s).empty());
}

TEST_F(PacesTest, EachPeerHasItsOwnAndAKeyIsSaidOnce) {
  for (const auto each : {0s, 10s, 20s}) {
    asked(each, "m", "a");
    asked(each + 3s, "m", "b");
    asked(each + 4s, "n", "b");
  }
  EXPECT_THAT(due(25s, 35s), testing::ElementsAre("m", "n"));
}

TEST_F(PacesTest, RemembersAtMostSoMany) {
  for (const auto each : {0s, 10s, 12s}) asked(each);  // no pace: but for whoever is new
  for (const char* peer : {"b", "c", "d"}) {
    asked(12s, "m", peer);
    asked(12s, "m", peer);
  }
  asked(20s);
  EXPECT_THAT(due(34s, 36s), testing::ElementsAre("m")) << "forgotten, so new";
}

}  // namespace
}  // namespace heddle::control
