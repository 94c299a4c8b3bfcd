#include "transport/pace.h"

#include <gtest/gtest.h>

namespace heddle::transport {
namespace {

using namespace std::chrono_literals;

TEST(Pace, WhoAsksBesideSweepsWithoutEndHasHisTurns) {
  Pace pace{1000};
  Pace::Promise promise;
  Instant now{};
  unsigned swept = 0;
  unsigned asked = 0;
  std::optional<Instant> comes_again = now;
  std::optional<Instant> sweeps_again = now;
  while (now < Instant{} + 1s) {
    // The sweep is always first.
    if (now >= *sweeps_again) {
      while (!(sweeps_again = pace.take(now))) ++swept;
    }
    if (now >= *comes_again) {
      while (!(comes_again = pace.take(now, promise))) ++asked;
    }
    now = std::min(*sweeps_again, *comes_again);
  }
  EXPECT_GE(asked, 100U);
  EXPECT_GE(swept, 100U);
  EXPECT_NEAR(swept + asked, 1000, 10) << "together they keep to the pace";
}

TEST(Pace, APromiseIsKeptOnceAndNothingIsMadeUpFor) {
  Pace pace{1000};
  Pace::Promise promise;
  const Instant start{};
  unsigned at_once = 0;
  while (!pace.take(start, promise)) ++at_once;
  ASSERT_TRUE(promise.at);
  const Instant turn = *promise.at;
  EXPECT_EQ(pace.take(turn - 1us, promise), turn) << "too early, and no other turn";
  EXPECT_FALSE(pace.take(turn + 10s, promise));
  EXPECT_FALSE(promise.at);
  unsigned later = 0;
  while (!pace.take(turn + 10s, promise)) ++later;
  EXPECT_LE(later, 6U);
  EXPECT_LE(at_once, 6U);
}

}  // namespace
}  // namespace heddle::transport
