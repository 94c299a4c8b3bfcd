#include "qos/offered_load.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <numeric>

#include "qos_support.h"

namespace heddle::qos {
namespace {

using Shares = std::array<double, max_data_vls>;

TEST(OfferedLoad, WhatIsLeftIsSharedByWeight) {
  const VlArbitration tables{{entry(0, 4), entry(1, 2), entry(2, 2)}, {}, no_limit};
  OfferedLoads loads;
  loads[0] = 0.1;
  const auto shares = shares_under_load(tables, {}, loads);
  ASSERT_TRUE(shares) << shares.error().message;
  EXPECT_NEAR((*shares)[0], 0.1, 1e-9);
  EXPECT_NEAR((*shares)[1], 0.45, 1e-9);
  EXPECT_NEAR((*shares)[2], 0.45, 1e-9);
}

TEST(OfferedLoad, AlwaysWaitingIsTheExactAnalysis) {
  const auto shares = shares_under_load(configuration_a(), {}, {});
  EXPECT_NEAR((*shares)[3], 3.0 / 35, 1e-9);
  EXPECT_NEAR((*shares)[0], 32.0 / 35 * 264 / 528, 1e-9);
}

TEST(OfferedLoad, TheLowTableGetsWhatTheHighTableLeaves) {
  OfferedLoads loads;
  loads[0] = loads[1] = loads[2] = 0.2;
  const auto shares = shares_under_load(configuration_a(), {}, loads);
  EXPECT_NEAR((*shares)[0], 0.2, 1e-6);
  EXPECT_NEAR((*shares)[3], 0.4, 1e-6);
}

TEST(OfferedLoad, LessThanTheLinkIsServedInFull) {
  OfferedLoads loads;
  loads[0] = loads[1] = loads[2] = loads[3] = 0.1;
  const auto shares = shares_under_load(configuration_a(), {}, loads);
  EXPECT_NEAR(std::accumulate(shares->begin(), shares->end(), 0.0), 0.4, 1e-9);
}

TEST(OfferedLoad, RefusesNegativeLoadsAndMixes) {
  OfferedLoads loads;
  loads[1] = -0.1;
  EXPECT_THAT(shares_under_load(configuration_a(), {}, loads).error().message, testing::HasSubstr("VL1"));
  AnalyzerOptions options;
  options.packets[0] = {64, 128};
  EXPECT_EQ(shares_under_load(configuration_a(), options, {}).error().code, ErrorCode::Unsupported);
}

/// Constant-rate sources with unbounded queues in front of the arbiter.
Shares simulated(const VlArbitration& tables, const AnalyzerOptions& options, const OfferedLoads& loads) {
  IbaArbiter arbiter{tables, options.grant, options.rounding};
  std::array<double, max_data_vls> queued{};
  Shares sent{};
  double sum = 0;
  for (int i = 0; i < 20'000; ++i) {
    std::array<std::uint32_t, max_data_vls> heads{};
    for (unsigned vl = 0; vl < max_data_vls; ++vl) {
      const auto bytes = options.packets[vl].front();
      if (!loads[vl] || queued[vl] >= bytes) heads[vl] = bytes;
    }
    const auto pick = arbiter.select(heads);
    const double took = pick ? heads[pick->lane.raw()] : 64;
    if (pick) {
      sent[pick->lane.raw()] += took;
      queued[pick->lane.raw()] -= took;
    }
    sum += took;
    for (unsigned vl = 0; vl < max_data_vls; ++vl) {
      if (loads[vl]) queued[vl] += took * *loads[vl];
    }
  }
  for (auto& each : sent) each /= sum;
  return sent;
}

TEST(OfferedLoad, IsWhatTheArbiterDoes) {
  EXPECT_TRUE(rc::check([] {
    Random random{*rc::gen::arbitrary<std::uint64_t>()};
    VlArbitration tables{{}, {}, HighLimit{static_cast<std::uint8_t>(random.below(3))}};
    for (unsigned vl = 0; vl < 3; ++vl) {
      tables.high.push_back(entry(vl, static_cast<unsigned>(1 + random.below(8))));
      tables.low.push_back(entry(vl + 3, static_cast<unsigned>(1 + random.below(8))));
    }
    AnalyzerOptions options;
    options.grant = random.chance(0.5) ? LowGrant::Entry : LowGrant::Packet;
    OfferedLoads loads;
    for (unsigned vl = 0; vl < 6; ++vl) {
      if (random.chance(0.6)) loads[vl] = 0.4 * random.unit();
    }
    const auto fluid = shares_under_load(tables, options, loads);
    RC_ASSERT(fluid);
    const auto packets = simulated(tables, options, loads);
    for (unsigned vl = 0; vl < 6; ++vl) RC_ASSERT(std::abs((*fluid)[vl] - packets[vl]) < 0.02);
  }));
}

}  // namespace
}  // namespace heddle::qos
