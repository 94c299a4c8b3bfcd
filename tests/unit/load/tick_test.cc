#include "load/tick.h"

#include <gtest/gtest.h>

namespace heddle::load {
namespace {

TEST(TickTest, RatesOfTheThreeUnits) {
  EXPECT_DOUBLE_EQ(ticks_per_second({}, LinkWidth::X4, LinkSpeed::Hdr), 250e6);
  EXPECT_DOUBLE_EQ(ticks_per_second({8, Tick::Unit::PortBytes}, LinkWidth::X4, LinkSpeed::Hdr), 25e9 / 8);
  EXPECT_DOUBLE_EQ(ticks_per_second({32, Tick::Unit::LaneBytes}, LinkWidth::X4, LinkSpeed::Edr),
                   12.5e9 / 4 / 32);
}

TEST(TickTest, APortThatIsDownHasNone) {
  EXPECT_EQ(ticks_per_second({}, LinkWidth::None, LinkSpeed::None), 0);
  EXPECT_EQ(ticks_per_second({0, Tick::Unit::PortBytes}, LinkWidth::X4, LinkSpeed::Hdr), 0);
}

TEST(TickTest, TheFirstRuleThatMatchesWins) {
  const TickTable table{.rules = {{1, 7, {2}}, {1, std::nullopt, {3}}}, .otherwise = {9}};
  EXPECT_EQ(table.find(1, 7).length, 2);
  EXPECT_EQ(table.find(1, 8).length, 3);
  EXPECT_EQ(table.find(2, 7).length, 9);
  EXPECT_EQ(documented_ticks().find(0x2c9, 0xd2f0).unit, Tick::Unit::PortBytes);
}

}  // namespace
}  // namespace heddle::load
