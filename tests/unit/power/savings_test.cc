#include "power/savings.h"

#include <gtest/gtest.h>

namespace heddle::power {
namespace {

TEST(SavingsTest, AShareIsOfWhatEverythingOnWouldHaveSpent) {
  EXPECT_DOUBLE_EQ(share_saved({{Joules{300}, Joules{100}}, {}, {}}).value(), 0.25);
  EXPECT_DOUBLE_EQ(share_saved({}).value(), 0);
}

TEST(SavingsTest, AYearSavesTheShareSoFarOfWhatEverythingOnDraws) {
  // A quarter saved so far, of 1 kW with everything on: 250 W for 8,766 hours.
  const Draw draw{{Joules{300}, Joules{100}}, Watts{900}, Watts{100}};
  const Yearly year = a_year_of(draw, {0.2, "EUR"});
  EXPECT_NEAR(year.saved.value(), 0.25 * 8766 * 3.6e6, 1);
  ASSERT_TRUE(year.money);
  EXPECT_NEAR(*year.money, 0.25 * 8766 * 0.2, 1e-6);
}

TEST(SavingsTest, WithoutAPriceNoMoneyIsSaid) { EXPECT_FALSE(a_year_of({}, {}).money); }

}  // namespace
}  // namespace heddle::power
