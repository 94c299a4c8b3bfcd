#include "notice/courier.h"

#include <gtest/gtest.h>

namespace heddle::notice {
namespace {

using namespace std::chrono_literals;

constexpr Instant at(FabricClock::duration since) { return Instant{1000s} + since; }

class CourierTest : public ::testing::Test {
 protected:
  /// When the next message goes, after the start of the test.
  [[nodiscard]] FabricClock::duration next() const {
    const auto when = courier_.next();
    EXPECT_TRUE(when);
    return when.value_or(at(0s)) - at(0s);
  }
  void fails(FabricClock::duration when) {
    courier_.began();
    courier_.failed("connection refused", at(when));
  }

  Courier courier_{{}};
};

TEST_F(CourierTest, WhatComesTogetherGoesTogether) {
  EXPECT_FALSE(courier_.next());
  courier_.waits(true, at(0s));
  courier_.waits(true, at(500ms));
  EXPECT_EQ(next(), 1s);
  courier_.began();
  EXPECT_FALSE(courier_.next()) << "one message at a time";
}

TEST_F(CourierTest, OneMessageInAWhileHoweverMuchThereIs) {
  courier_.waits(true, at(0s));
  courier_.began();
  courier_.delivered(at(5s));
  EXPECT_EQ(next(), 6s);
  courier_.waits(false, at(5s));
  EXPECT_FALSE(courier_.next());
}

TEST_F(CourierTest, WhoDoesNotTakeItIsAskedLessAndLess) {
  courier_.waits(true, at(0s));
  FabricClock::duration now = 1s;
  for (const auto wait : {1s, 2s, 4s, 8s, 16s, 32s, 64s, 128s, 256s, 300s, 300s}) {
    fails(now);
    EXPECT_EQ(next() - now, wait);
    now = next();
  }
  courier_.began();
  courier_.delivered(at(now));
  EXPECT_EQ(next() - now, 1s);
  EXPECT_FALSE(courier_.fails());
  EXPECT_EQ(courier_.why(), "");
}

TEST_F(CourierTest, AReceiverThatIsStartedAgainIsNoProblem) {
  courier_.waits(true, at(0s));
  for (int i = 0; i < 3; ++i) fails(1s);
  EXPECT_FALSE(courier_.is_a_problem());
  fails(8s);
  EXPECT_TRUE(courier_.is_a_problem());
  EXPECT_EQ(courier_.why(), "connection refused");
}

TEST_F(CourierTest, OfAMessageThatIsRefusedEachGoesAlone) {
  EXPECT_EQ(courier_.most(), 100U);
  courier_.waits(true, at(0s));
  courier_.began();
  courier_.refused("HTTP status 400", 3, at(1s));
  EXPECT_EQ(next(), 2s);
  EXPECT_EQ(courier_.most(), 1U);
  courier_.delivered(at(2s));
  EXPECT_EQ(courier_.most(), 1U);
  courier_.refused("HTTP status 400", 1, at(3s));
  EXPECT_EQ(courier_.most(), 1U);
  courier_.delivered(at(4s));
  EXPECT_EQ(courier_.most(), 100U);
}

TEST_F(CourierTest, WhatMustNotBeForgottenIsRepeated) {
  CourierOptions options;
  options.refresh = 60s;
  courier_ = Courier{options};
  courier_.waits(true, at(0s));
  courier_.began();
  courier_.delivered(at(1s));
  courier_.waits(false, at(1s));
  EXPECT_FALSE(courier_.next());
  courier_.repeats(true);
  EXPECT_EQ(next(), 61s);
}

}  // namespace
}  // namespace heddle::notice
