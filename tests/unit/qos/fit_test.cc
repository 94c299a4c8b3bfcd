#include "qos/fit.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "qos/share_search.h"
#include "qos_support.h"

namespace heddle::qos {
namespace {

using testing::HasSubstr;

Programming eight_lanes() {
  Programming plan;
  for (unsigned vl = 0; vl < 6; ++vl) plan.tables.high.push_back(entry(vl, 64 * (1 + vl % 3)));
  plan.tables.low = {entry(6, 64), entry(7, 128)};
  plan.tables.limit = HighLimit{8};
  for (unsigned sl = 0; sl < sl_count; ++sl) plan.map.vl[sl] = Vl{static_cast<std::uint8_t>(sl % 8)};
  return plan;
}

TEST(Fit, APortThatHasAllGetsAll) {
  const auto fitted = fit(eight_lanes(), PortCapability{64, 64, 8}, 4096);
  ASSERT_TRUE(fitted);
  EXPECT_EQ(fitted->fit, Fit::AsWanted);
  EXPECT_EQ(fitted->programming, eight_lanes());
}

TEST(Fit, OnFewerVlsSlsShareAndTheirSharesAdd) {
  const auto fitted = fit(eight_lanes(), PortCapability{64, 64, 4}, 4096);
  ASSERT_TRUE(fitted) << fitted.error().message;
  EXPECT_EQ(fitted->fit, Fit::Reduced);
  EXPECT_TRUE(check(fitted->programming, PortCapability{64, 64, 4}));
  ASSERT_EQ(fitted->lanes.size(), 8U);
  for (const auto& lane : fitted->lanes) {
    double together = 0;
    for (const auto& other : fitted->lanes) {
      if (other.got.vl == lane.got.vl) together += other.wanted.share.value();
    }
    EXPECT_NEAR(lane.share, together, 1e-9);
    EXPECT_NEAR(lane.got.share.value(), together, 0.01);
  }
  EXPECT_THAT(to_string(fitted->lanes[6]), HasSubstr("SL 6, 14 on VL"));
}

// A port of 15 VLs with 10 and 38 entries took a second, on the thread that reads MADs.
TEST(Fit, ABriefSearchLooksAtFewAndFindsAsMuch) {
  ShareProblem problem;
  double sum = 0;
  for (unsigned i = 1; i <= 15; ++i) sum += std::sqrt(i);
  for (unsigned i = 1; i <= 15; ++i) (i % 2 == 0 ? problem.high : problem.low).push_back(std::sqrt(i) / sum);
  problem.high_entries = 10;
  problem.low_entries = 38;
  problem.entry_packets = 15;
  for (unsigned limit = 1; limit < 255; ++limit)
    problem.strides.push_back({HighLimit{static_cast<std::uint8_t>(limit)}, limit});
  std::size_t looked_at = 0;
  const Acceptance all{[](const Counts&) { return true; },
                       [&](const Counts&) {
                         ++looked_at;
                         return true;
                       }};
  const ShareSearch whole = search_shares(problem, all);
  const std::size_t without = std::exchange(looked_at, 0);
  problem.effort = brief_search;
  const ShareSearch brief = search_shares(problem, all);
  EXPECT_GT(without, 20'000U);
  EXPECT_LT(looked_at, without / 2);
  ASSERT_FALSE(whole.best.empty());
  ASSERT_FALSE(brief.best.empty());
  EXPECT_NEAR(brief.best[0].error, whole.best[0].error, 1e-3);
}

TEST(Fit, AShorterTableKeepsTheShares) {
  Programming plan{configuration_a(), {}};
  for (unsigned sl = 0; sl < 4; ++sl) plan.map.vl[sl] = Vl{static_cast<std::uint8_t>(sl)};
  const PortCapability small{8, 1, 4};
  const auto fitted = fit(plan, small, 64);
  ASSERT_TRUE(fitted) << fitted.error().message;
  EXPECT_TRUE(check(fitted->programming, small));
  for (const auto& lane : fitted->lanes) EXPECT_NEAR(lane.got.share.value(), lane.share, 1e-3);
  EXPECT_NEAR(fitted->lanes[3].share, 3.0 / 35, 1e-12);
}

TEST(Fit, WithoutALowTableAllIsHigh) {
  const auto fitted = fit(eight_lanes(), PortCapability{16, 0, 8}, 2048);
  ASSERT_TRUE(fitted) << fitted.error().message;
  EXPECT_TRUE(fitted->programming.tables.low.empty());
  EXPECT_TRUE(check(fitted->programming, PortCapability{16, 0, 8}));
}

TEST(Fit, BehindNoLimitTheLowTableStaysBehindIt) {
  Programming plan = eight_lanes();
  plan.tables.limit = no_limit;
  const PortCapability port{8, 4, 4};
  const auto fitted = fit(plan, port, 4096);
  ASSERT_TRUE(fitted) << fitted.error().message;
  EXPECT_EQ(fitted->programming.tables.limit, no_limit);
  EXPECT_FALSE(fitted->programming.tables.low.empty());
  EXPECT_TRUE(check(fitted->programming, port));
}

TEST(Fit, DroppedSlsStayDropped) {
  Programming plan = eight_lanes();
  plan.map.vl[11] = drop_vl;
  const auto fitted = fit(plan, PortCapability{64, 64, 2}, 4096);
  ASSERT_TRUE(fitted);
  EXPECT_EQ(fitted->programming.map.vl[11], drop_vl);
}

TEST(Fit, APortWithoutAHighTableIsRefused) {
  const auto fitted = fit(eight_lanes(), PortCapability{0, 8, 8}, 4096);
  ASSERT_FALSE(fitted);
  EXPECT_EQ(fitted.error().code, ErrorCode::Unsupported);
}

RC_GTEST_PROP(FitProperty, WhatIsMadeFitsAndNoSlIsForgotten, (std::uint64_t seed)) {
  Random random{seed};
  Programming plan{random_tables(random, 1 + random.below(16), 255), {}};
  std::vector<Vl> served;
  for (const auto& table : {plan.tables.high, plan.tables.low}) {
    for (const auto& each : table) {
      if (each.weight != 0) served.push_back(each.vl);
    }
  }
  for (auto& vl : plan.map.vl) vl = random.chance(0.1) ? drop_vl : served[random.below(served.size())];
  RC_PRE(std::ranges::any_of(plan.map.vl, [](Vl vl) { return vl != drop_vl; }));
  static constexpr unsigned vls[] = {1, 2, 4, 8, 15};
  const PortCapability port{1 + random.below(20), random.below(20), vls[random.below(5)]};
  const auto fitted = fit(plan, port, 256U << random.below(5));
  if (!fitted) RC_FAIL(fitted.error().message);
  RC_ASSERT(check(fitted->programming, port).has_value());
  for (unsigned sl = 0; sl < sl_count; ++sl) {
    RC_ASSERT((fitted->programming.map.vl[sl] == drop_vl) == (plan.map.vl[sl] == drop_vl));
  }
}

}  // namespace
}  // namespace heddle::qos
