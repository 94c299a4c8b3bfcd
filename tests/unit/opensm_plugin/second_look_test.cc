#include "core/second_look.h"

#include <gtest/gtest.h>

namespace heddle::plugin {
namespace {

using namespace std::chrono_literals;

TEST(SecondLook, IsDueWhereAPlanSeemsToPartHostsAndLinksAreNotActive) {
  SecondLook look;
  const SecondLook::Clock::time_point now{};
  EXPECT_FALSE(look.is_due(false, 3, now));
  EXPECT_FALSE(look.is_due(true, 0, now));
  EXPECT_TRUE(look.is_due(true, 1, now));
}

TEST(SecondLook, IsNotDueAgainAndAgain) {
  SecondLook look;
  const SecondLook::Clock::time_point now{};
  EXPECT_TRUE(look.is_due(true, 1, now));
  EXPECT_FALSE(look.is_due(true, 1, now + SecondLook::apart - 1ms));
  EXPECT_TRUE(look.is_due(true, 1, now + SecondLook::apart));
}

}  // namespace
}  // namespace heddle::plugin
