// What the physical layer corrects, and what it cannot, in both layouts of the attribute.
#include "health/bit_errors.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "unit/health/health_world.h"

namespace heddle::health {
namespace {

using testing::HasSubstr;

TEST(HealthBits, WhatPam4CorrectsIsNormal) {
  HealthWorld world{ring};
  const LinkEnd end = world.end(world.trunk_link());
  world.bits(end, {.corrected_per_second = 1e6});
  world.pass(15min);
  EXPECT_EQ(world.count(), 0U);
  const auto rates = world.bit_errors(end);
  ASSERT_TRUE(rates && rates->window.raw && rates->window.effective);
  // 200 Gbit/s: 2,000 of 1e-8 a second, and a million on top.
  EXPECT_NEAR(*rates->window.raw, 5.01e-6, 0.5e-6);
  EXPECT_EQ(*rates->window.effective, 0);
  const auto other = world.bit_errors(world.truth().link(world.trunk_link()).b);
  ASSERT_TRUE(other && other->window.raw);
  EXPECT_NEAR(*other->window.raw, 1e-8, 0.1e-8);
}

TEST(HealthBits, WhatCannotBeCorrectedIsNot) {
  HealthWorld world{ring};
  const Link& link = world.truth().link(world.trunk_link());
  world.bits(link.a, {.uncorrectable_per_second = 0.1});
  world.pass(12min);
  const auto found = world.findings(Rule::EffectiveBer);
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].sureness, Sureness::Sure);
  EXPECT_EQ(found[0].at, world.truth().ref(link.a));
  EXPECT_EQ(found[0].blame, world.truth().ref(link.b));
  EXPECT_THAT(found[0].what, HasSubstr("an effective bit error rate of"));
  EXPECT_EQ(world.count(), 1U) << "symbol errors are the same ones";
  world.bits(link.a, {});
  world.pass(131min);
  EXPECT_EQ(world.count(), 0U);
}

TEST(HealthBits, OneCodeWordIsBorne) {
  HealthWorld world{ring};
  world.bits(world.end(world.trunk_link()), {.uncorrectable_per_second = 1.0 / 55});
  world.pass(1min);
  world.bits(world.end(world.trunk_link()), {});
  world.pass(5min);
  EXPECT_EQ(world.count(), 0U);
}

TEST(HealthBits, LaneByLaneWhereThereIsNoRsFec) {
  sim::Options options;
  options.traits.rs_fec = false;
  for (const char* generator :
       {"torus:2x2,hosts=2,links=2,speed=FDR", "torus:2x2,hosts=2,links=2,speed=EDR"}) {
    HealthWorld world{generator, options};
    const LinkEnd end = world.end(world.trunk_link());
    world.bits(end, {.corrected_per_second = 10, .uncorrectable_per_second = 1});
    world.pass(12min);
    EXPECT_EQ(world.count(Rule::EffectiveBer), 1U);
    const auto rates = world.bit_errors(end);
    ASSERT_TRUE(rates && rates->window.raw && rates->window.effective);
    EXPECT_NEAR(*rates->window.raw / *rates->window.effective, 11, 0.5);
  }
}

TEST(HealthBits, WhatIsNotCountedIsNotKnown) {
  sim::Options options;
  options.traits.phy_counters = false;
  HealthWorld without{ring, options};
  without.bits(without.end(without.trunk_link()), {.uncorrectable_per_second = 0.1});
  without.pass(12min);
  EXPECT_TRUE(without.judge().bit_errors()->empty());
  EXPECT_EQ(without.count(Rule::SymbolErrors), 1U) << "PortCounters has them all the same";
  HealthWorld slow{"torus:2x2,hosts=2,links=2,speed=QDR"};
  slow.pass(5min);
  EXPECT_TRUE(slow.judge().bit_errors()->empty()) << "nothing is corrected below FDR";
}

TEST(HealthBits, OfAFullCounterTheRateIsUnknown) {
  HealthWorld world{ring};
  const LinkEnd end = world.end(world.trunk_link());
  world.bits(end, {.uncorrectable_per_second = 1e9});
  world.pass(2min);
  const auto rates = world.bit_errors(end);
  ASSERT_TRUE(rates);
  EXPECT_FALSE(rates->window.effective);
  const auto found = world.findings(Rule::FullCounters);
  ASSERT_EQ(found.size(), 1U);
  EXPECT_THAT(found[0].what, HasSubstr("effective bit error rate unknown"));
}

}  // namespace
}  // namespace heddle::health
