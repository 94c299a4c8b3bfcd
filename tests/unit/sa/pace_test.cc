#include "sa/pace.h"

#include <gtest/gtest.h>

namespace heddle::sa {
namespace {

using namespace std::chrono_literals;

using enum Pace::Turn;

constexpr PaceOptions options{.burst = 100, .per_second = 10, .tables_at_once = 4, .tables_per_second = 0.5};

TEST(Pace, EachPortHasAnAllowanceThatComesBack) {
  Pace pace{options};
  constexpr std::size_t all = 10;
  EXPECT_EQ(Granted, pace.take(Lid{1}, 7, 60, all, Instant{1s}));
  EXPECT_EQ(Refused, pace.take(Lid{1}, 8, 60, all, Instant{1s}));
  EXPECT_EQ(Granted, pace.take(Lid{2}, 7, 60, all, Instant{1s}));
  EXPECT_EQ(Refused, pace.take(Lid{1}, 8, 60, all, Instant{2s})) << "50 are left";
  EXPECT_EQ(Granted, pace.take(Lid{1}, 7, 60, all, Instant{3s}));
  EXPECT_EQ(Granted, pace.take(Lid{1}, 7, 100, all, Instant{3600s})) << "no more than the burst comes back";
  EXPECT_EQ(Refused, pace.take(Lid{1}, 8, 1, all, Instant{3600s}));
  EXPECT_EQ(Refused, pace.take(Lid{1}, 8, 1, all, Instant{3599s})) << "a clock that goes back brings nothing";
}

TEST(Pace, OfALargeFabricAFewTablesMayBeAskedFor) {
  Pace pace{options};
  constexpr std::size_t all = 1000;
  for (int i = 0; i < 4; ++i) EXPECT_EQ(Granted, pace.take(Lid{1}, 7, all, all, Instant{1s})) << i;
  EXPECT_EQ(Refused, pace.take(Lid{1}, 8, all, all, Instant{1s}));
  EXPECT_EQ(Granted, pace.take(Lid{1}, 7, all, all, Instant{3s}));
}

// A kernel asks again while an answer comes in segments: "busy" would end it.
TEST(Pace, WhatIsAskedAgainIsOnItsWay) {
  Pace pace{options};
  EXPECT_EQ(Granted, pace.take(Lid{1}, 1, 90, 10, Instant{1s}));
  EXPECT_EQ(UnderWay, pace.take(Lid{1}, 1, 90, 10, Instant{2s}));
  EXPECT_EQ(Refused, pace.take(Lid{1}, 2, 90, 10, Instant{2s}));
  EXPECT_EQ(Granted, pace.take(Lid{2}, 1, 1000, 10, Instant{2s}))
      << "of more than a burst, all of it is spent";
  EXPECT_EQ(Refused, pace.take(Lid{2}, 2, 1, 10, Instant{2s}));
}

}  // namespace
}  // namespace heddle::sa
