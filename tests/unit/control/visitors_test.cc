#include "control/visitors.h"

#include <gtest/gtest.h>

#include <vector>

namespace heddle::control {
namespace {

class VisitorsTest : public testing::Test {
 protected:
  Visitors::Id enter(const Peer& peer) {
    const auto number = entered++;
    return visitors.enter(peer, [this, number] { sent_away.push_back(number); });
  }
  Visitors visitors{{.connections = 4, .per_peer = 3}};
  int entered = 0;
  std::vector<int> sent_away;  ///< in the order in which they had come
};

TEST_F(VisitorsTest, WhoHasMostGivesOneUpForWhoHasNone) {
  for (int i = 0; i < 3; ++i) enter("greedy");
  enter("b");
  enter("c");
  EXPECT_EQ(sent_away, std::vector{0});
  enter("d");
  EXPECT_EQ(sent_away, (std::vector{0, 1}));
  EXPECT_EQ(visitors.present("greedy"), 1U);
  EXPECT_EQ(visitors.present("b"), 1U);
  EXPECT_EQ(visitors.present(), 4U);
}

TEST_F(VisitorsTest, OnePeerTakesTurnsWithItself) {
  for (int i = 0; i < 5; ++i) enter("greedy");
  EXPECT_EQ(sent_away, (std::vector{0, 1}));
  EXPECT_EQ(visitors.present("greedy"), 3U);
}

TEST_F(VisitorsTest, WhoAsksForNothingGoesFirstThenWhoHasNotMovedForLongest) {
  const auto reading = enter("a");
  const auto stalled = enter("a");
  enter("a");
  visitors.moved(stalled, Visitors::Doing::TakesAnAnswer);
  visitors.moved(reading, Visitors::Doing::TakesAnAnswer);
  const auto fourth = enter("a");
  EXPECT_EQ(sent_away, std::vector{2});
  visitors.moved(fourth, Visitors::Doing::TakesAnAnswer);
  enter("a");
  EXPECT_EQ(sent_away, (std::vector{2, 1}));
}

TEST_F(VisitorsTest, WhoHasLeftCountsNoMore) {
  const auto one = enter("a");
  visitors.left(one);
  visitors.left(one);
  visitors.moved(one, Visitors::Doing::TakesAnAnswer);
  EXPECT_EQ(visitors.present(), 0U);
  for (const char* peer : {"a", "b", "c", "d"}) enter(peer);
  EXPECT_TRUE(sent_away.empty());
}

}  // namespace
}  // namespace heddle::control
