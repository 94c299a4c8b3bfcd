#include "qos/analyzer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include "base/random.h"
#include "qos/stepped.h"
#include "qos_support.h"

namespace heddle::qos {
namespace {

using testing::HasSubstr;

const VlService& service(const Analysis& analysis, unsigned vl) {
  for (const auto& each : analysis.vls) {
    if (each.vl.raw() == vl) return each;
  }
  throw std::out_of_range("no such VL in the analysis");
}

TEST(Analyzer, ConfigurationAOfTheThesis) {
  const auto analysis = analyze(configuration_a());
  ASSERT_TRUE(analysis) << analysis.error().message;
  ASSERT_EQ(analysis->vls.size(), 4U);
  EXPECT_EQ(service(*analysis, 3).share, (Fraction{3, 35}));
  EXPECT_EQ(service(*analysis, 0).share, reduced(Wide{32} * 264, Wide{35} * 528));
  EXPECT_EQ(service(*analysis, 1).share, reduced(Wide{32} * 158, Wide{35} * 528));
  EXPECT_EQ(service(*analysis, 2).share, reduced(Wide{32} * 106, Wide{35} * 528));
  // 33 grants in 4 rounds of 528 packets: 4 x 64 + 33 selections.
  EXPECT_EQ(analysis->period_packets, 4U * 528 + 33 * 6);
  EXPECT_DOUBLE_EQ(service(*analysis, 0).mean_distance, 289.0 / 128);
  EXPECT_DOUBLE_EQ(service(*analysis, 3).mean_distance, 289.0 / 33);
}

TEST(Analyzer, ThreeHundredCountedRunsOfConfigurationA) {
  const auto count = count_runs(configuration_a(), {}, 300);
  ASSERT_TRUE(count) << count.error().message;
  EXPECT_EQ(count->packets, 173244U);
  EXPECT_EQ(count->vls[3].packets, 14844U);
  EXPECT_EQ(count->vls[0].packets, 264U * 300);
}

TEST(Analyzer, WholePacketsOf4096BytesWouldGiveConfigurationAsLowVlHalf) {
  AnalyzerOptions options;
  options.packets = AnalyzerOptions::every_vl(4096);
  EXPECT_EQ(service(*analyze(configuration_a(), options), 3).share, (Fraction{1, 2}));
  options.rounding = Rounding::Units;
  EXPECT_EQ(service(*analyze(configuration_a(), options), 3).share, (Fraction{3, 35}));
}

TEST(Analyzer, DistanceAndWeightTradeOff) {
  // 32 entries at distance 2 with weight 2, 16 at distance 4 with weight 4, and 16 more.
  VlArbitration tables;
  for (int i = 0; i < 16; ++i) {
    for (const auto& each : {entry(0, 2), entry(1, 4), entry(0, 2), entry(2, 4)}) tables.high.push_back(each);
  }
  const auto analysis = analyze(tables);
  EXPECT_EQ(service(*analysis, 0).share, service(*analysis, 1).share);
  EXPECT_DOUBLE_EQ(service(*analysis, 0).mean_distance, 2);
  EXPECT_DOUBLE_EQ(service(*analysis, 1).mean_distance, 4);
  EXPECT_EQ(service(*analysis, 0).max_distance, 2U);
  EXPECT_EQ(service(*analysis, 1).max_distance, 4U);
}

TEST(Analyzer, ALowTableBehindNoLimitStarves) {
  const VlArbitration tables{{entry(0, 1)}, {entry(1, 1)}, no_limit};
  const auto analysis = analyze(tables);
  EXPECT_EQ(service(*analysis, 1).share, (Fraction{0, 1}));
  EXPECT_EQ(service(*analysis, 1).wait_bytes, std::nullopt);
  EXPECT_EQ(service(*analysis, 0).share, (Fraction{1, 1}));
  // A low packet on its way cannot be stopped.
  EXPECT_EQ(service(*analysis, 0).wait_bytes, 64U);
}

TEST(Analyzer, OnePacketAtATime) {
  const VlArbitration tables{{entry(0, 10)}, {entry(1, 3)}, one_packet};
  AnalyzerOptions options;
  EXPECT_EQ(service(*analyze(tables, options), 1).share, (Fraction{3, 4}));
  options.grant = LowGrant::Packet;
  EXPECT_EQ(service(*analyze(tables, options), 1).share, (Fraction{1, 2}));
}

TEST(Analyzer, WaitBounds) {
  VlArbitration tables{{entry(0, 64), entry(1, 32), entry(2, 32)}, {entry(3, 6)}, HighLimit{2}};
  const auto analysis = analyze(tables);
  // Both other high entries, a low packet on its way, and one grant: a second needs 8,192 bytes.
  EXPECT_EQ(service(*analysis, 0).wait_bytes, 2048U + 2048 + 64 + 384);
  EXPECT_EQ(service(*analysis, 1).wait_bytes, 4096U + 2048 + 64 + 384);
  EXPECT_EQ(service(*analysis, 3).wait_bytes, 8192U);
}

TEST(Analyzer, SizesMixedWithinAVl) {
  VlArbitration tables{{entry(0, 64), entry(1, 64)}, {}, no_limit};
  AnalyzerOptions options;
  options.packets[0] = {256, 4096};
  options.packets[1] = {2048};
  const auto analysis = analyze(tables, options);
  ASSERT_TRUE(analysis) << analysis.error().message;
  // After 256 bytes some weight is left for a large packet: every turn is one of each.
  EXPECT_EQ(service(*analysis, 0).share, reduced(4352, 4352 + 4096));
}

TEST(Analyzer, RefusesWhatNoPortCanHold) {
  EXPECT_THAT(analyze({{}, {entry(0, 1)}, HighLimit{1}}).error().message, HasSubstr("high table"));
  EXPECT_THAT(analyze({ArbTable(65, entry(0, 1)), {}, HighLimit{1}}).error().message,
              HasSubstr("65 entries"));
  AnalyzerOptions options;
  options.packets[2] = {0};
  EXPECT_THAT(analyze({{entry(2, 1)}, {}, HighLimit{1}}, options).error().message,
              HasSubstr("VL2: packets of 0"));
}

TEST(Analyzer, SaysWhenSizesAreTooOdd) {
  AnalyzerOptions options;
  options.rounding = Rounding::Deficit;
  VlArbitration tables;
  for (unsigned vl = 0; vl < 6; ++vl) {
    tables.high.push_back(entry(vl, 7 + vl));
    options.packets[vl] = {4093 - 10 * vl};
  }
  const auto analysis = analyze(tables, options);
  ASSERT_FALSE(analysis);
  EXPECT_EQ(analysis.error().code, ErrorCode::Unsupported);
}

void expect_same(const Analysis& exact, const ScheduleCount& count) {
  Wide shares = 0;
  for (const auto& vl : exact.vls) {
    const auto& counted = count.vls[vl.vl.raw()];
    RC_ASSERT(vl.share == reduced(counted.bytes, count.bytes));
    RC_ASSERT(vl.max_distance == counted.max_distance);
    const double mean = counted.selections == 0 ? 0
                                                : static_cast<double>(counted.distance_sum) /
                                                      static_cast<double>(counted.selections);
    RC_ASSERT(std::abs(vl.mean_distance - mean) < 1e-9 * (1 + mean));
    shares += counted.bytes;
  }
  RC_ASSERT(shares == count.bytes);
  RC_ASSERT(exact.period_packets % count.packets == 0U);
}

TEST(AnalyzerProperty, EveryLimitWithBothGrants) {
  EXPECT_TRUE(rc::check([] {
    Random random{*rc::gen::arbitrary<std::uint64_t>()};
    auto tables = random_tables(random, 1 + random.below(4), 1 + random.below(6));
    auto options = random_options(random);
    tables.limit = HighLimit{static_cast<std::uint8_t>(*rc::gen::inRange(0, 256))};
    for (const LowGrant grant : {LowGrant::Entry, LowGrant::Packet}) {
      options.grant = grant;
      const auto count = count_period(tables, options, 8'000);
      const auto exact = analyze(tables, options);
      if (count && exact) expect_same(*exact, *count);
    }
  }));
}

// Totals of both tables with many divisors in common: then places of grants and positions of the low table
// are tied most, and the period is short.
TEST(AnalyzerProperty, TablesWithMuchInCommon) {
  EXPECT_TRUE(rc::check([] {
    Random random{*rc::gen::arbitrary<std::uint64_t>()};
    const std::size_t entries = 1 + random.below(24);
    const auto lanes = 1 + random.below(6);
    const auto weight = static_cast<unsigned>(1 + random.below(40));
    VlArbitration tables;
    for (std::size_t i = 0; i < entries; ++i) {
      tables.high.push_back(entry(static_cast<unsigned>(random.below(lanes)), weight));
      tables.low.push_back(entry(static_cast<unsigned>(random.below(lanes + 2)), weight));
      if (random.chance(0.1)) tables.low.push_back(entry(static_cast<unsigned>(random.below(lanes)), weight));
    }
    tables.limit =
        HighLimit{static_cast<std::uint8_t>(random.chance(0.5) ? random.below(3) : random.below(256))};
    for (const LowGrant grant : {LowGrant::Entry, LowGrant::Packet}) {
      AnalyzerOptions options;
      options.grant = grant;
      const auto count = count_period(tables, options, 8'000);
      const auto exact = analyze(tables, options);
      RC_ASSERT(exact.has_value());
      if (count) expect_same(*exact, *count);
    }
  }));
}

TEST(AnalyzerProperty, ExactIsWhatSteppingThroughThePeriodCounts) {
  EXPECT_TRUE(rc::check([] {
    Random random{*rc::gen::arbitrary<std::uint64_t>()};
    const auto tables = random_tables(random, 1 + random.below(6), 1 + random.below(12));
    const auto options = random_options(random);
    const auto count = count_period(tables, options, 20'000);
    if (!count) RC_DISCARD("period too long to step through");
    const auto exact = analyze(tables, options);
    RC_ASSERT(exact);
    expect_same(*exact, *count);
  }));
}

TEST(AnalyzerProperty, SharesOfFullTablesSumToOne) {
  EXPECT_TRUE(rc::check([] {
    Random random{*rc::gen::arbitrary<std::uint64_t>()};
    const auto tables = random_tables(random, 64, 255);
    auto options = random_options(random);
    options.rounding = Rounding::Up;
    const auto exact = analyze(tables, options);
    RC_ASSERT(exact);
    double sum = 0;
    for (const auto& vl : exact->vls) sum += vl.share.value();
    RC_ASSERT(std::abs(sum - 1) < 1e-12);
  }));
}

/// VLs come and go; no packet waits longer than its bound.
TEST(AnalyzerProperty, NoTrafficMakesAPacketWaitLongerThanItsBound) {
  EXPECT_TRUE(rc::check([] {
    Random random{*rc::gen::arbitrary<std::uint64_t>()};
    const auto tables = random_tables(random, 1 + random.below(5), 1 + random.below(100));
    const auto options = random_options(random);
    const auto exact = analyze(tables, options);
    if (!exact) RC_DISCARD("period too long");
    std::array<std::optional<std::uint64_t>, max_data_vls> bounds;
    for (const auto& vl : exact->vls) bounds[vl.vl.raw()] = vl.wait_bytes;

    IbaArbiter arbiter{tables, options.grant, options.rounding};
    std::array<std::uint32_t, max_data_vls> heads{};
    std::array<std::uint64_t, max_data_vls> waited{};
    const auto size = [&](unsigned vl) {
      return options.rounding == Rounding::Units ? weight_unit_bytes : options.packets[vl].front();
    };
    std::array<double, max_data_vls> eagerness{};
    for (int i = 0; i < 1000; ++i) {
      if (i % 100 == 0) {
        for (auto& each : eagerness) each = random.chance(0.3) ? 1 : random.unit() * random.unit();
      }
      // Arrivals while the last packet was under way, just after it was chosen: the worst moment.
      const auto pick = arbiter.select(heads);
      const std::uint32_t sent = pick ? heads[pick->lane.raw()] : 0;
      if (pick) {
        waited[pick->lane.raw()] = 0;
        heads[pick->lane.raw()] = 0;
      }
      for (unsigned vl = 0; vl < max_data_vls; ++vl) {
        const bool sender = pick && pick->lane.raw() == vl;
        if (heads[vl] == 0 && random.chance(eagerness[vl])) heads[vl] = size(vl);
        if (heads[vl] != 0 && !sender) waited[vl] += sent;
        if (bounds[vl]) RC_ASSERT(waited[vl] <= *bounds[vl]);
      }
    }
  }));
}

}  // namespace
}  // namespace heddle::qos
