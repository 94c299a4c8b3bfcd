#include <gtest/gtest.h>

#include "authority/own/late_sets.h"

namespace heddle::provision {
namespace {

using namespace std::chrono_literals;

constexpr PortRef one{NodeGuid{1}, PortNum{1}};
constexpr PortRef other{NodeGuid{1}, PortNum{2}};

TEST(LateSets, ASetMayArriveForAsLongAsPacketsLive) {
  LateSets sets{1s};
  EXPECT_EQ(sets.settled(one), Instant::min());
  sets.sent(one, Instant{10s});
  EXPECT_EQ(sets.settled(one), Instant{11s});
  EXPECT_EQ(sets.settled(other), Instant::min());
}

TEST(LateSets, OneOfAnEarlierRunMayArriveAtAnyPort) {
  LateSets sets{1s};
  sets.begin(Instant{10s});
  EXPECT_EQ(sets.settled(one), Instant{11s});
  sets.begin(Instant{20s});
  EXPECT_EQ(sets.settled(one), Instant{11s}) << "there is one start";
  sets.sent(one, Instant{10500ms});
  EXPECT_EQ(sets.settled(one), Instant{11500ms});
  EXPECT_EQ(sets.settled(other), Instant{11s});
}

}  // namespace
}  // namespace heddle::provision
