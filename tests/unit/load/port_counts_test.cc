#include "load/port_counts.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include "fabric/link_rate.h"

namespace heddle::load {
namespace {

using namespace std::chrono_literals;

constexpr std::uint64_t stuck = 0xffffffff;
constexpr Capacity hdr{200e9 / 32};

class PortCountsTest : public testing::Test {
 protected:
  Advance read(std::uint64_t words, Width width = Width::Wide) {
    Reading reading{.width = width, .present = mask(Counter::XmitData)};
    reading.value[at(Counter::XmitData)] = words;
    return advance(port, totals, reading, 1s, hdr);
  }
  [[nodiscard]] std::uint64_t total() const { return totals[at(Counter::XmitData)]; }
  [[nodiscard]] bool certain() const { return (port.uncertain & mask(Counter::XmitData)) == 0; }
  // As the publication of a sample does.
  void sampled() { port.uncertain = 0; }

  PortCounts port;
  CounterValues totals{};
};

TEST_F(PortCountsTest, TheFirstReadingIsTheTotalAndSaysNothingOfTheRate) {
  EXPECT_FALSE(read(1000).gap);
  EXPECT_EQ(total(), 1000U);
  EXPECT_FALSE(certain());
}

TEST_F(PortCountsTest, GrowthAddsUp) {
  read(1000);
  sampled();
  EXPECT_FALSE(read(1500).gap);
  EXPECT_EQ(total(), 1500U);
  EXPECT_TRUE(certain());
}

TEST_F(PortCountsTest, AResetBySomebodyElseIsAGapAndNothingIsAdded) {
  read(1000);
  sampled();
  EXPECT_TRUE(read(10).gap);
  EXPECT_EQ(total(), 1000U);
  EXPECT_FALSE(certain());
  sampled();
  EXPECT_FALSE(read(30).gap);
  EXPECT_EQ(total(), 1020U);
  EXPECT_TRUE(certain());
}

TEST_F(PortCountsTest, AConfirmedResetLosesNothing) {
  read(1000);
  confirm_reset(port, totals, mask(Counter::XmitData));
  sampled();
  EXPECT_FALSE(read(50).gap);
  EXPECT_EQ(total(), 1050U);
  EXPECT_TRUE(certain());
}

TEST_F(PortCountsTest, AResetThatMayHaveArrivedIsNoGapButNoRateEither) {
  read(1000);
  suspect_reset(port, mask(Counter::XmitData));
  sampled();
  EXPECT_FALSE(read(50).gap);
  EXPECT_EQ(total(), 1050U);
  EXPECT_FALSE(certain());
}

TEST_F(PortCountsTest, ASuspectedResetThatDidNotArriveChangesNothing) {
  read(1000);
  suspect_reset(port, mask(Counter::XmitData));
  sampled();
  read(1200);
  EXPECT_EQ(total(), 1200U);
  EXPECT_TRUE(certain());
}

TEST_F(PortCountsTest, ASaturatedReadingIsALowerBoundAndNoRate) {
  read(stuck - 100, Width::Narrow);
  sampled();
  const Advance full = read(stuck, Width::Narrow);
  EXPECT_EQ(full.saturated, mask(Counter::XmitData));
  EXPECT_EQ(total(), stuck);
  EXPECT_FALSE(certain());
  sampled();
  EXPECT_NE(read(stuck, Width::Narrow).saturated, 0U);
  EXPECT_FALSE(certain());
}

TEST_F(PortCountsTest, TheSameValueIn64BitsIsNotSaturated) {
  read(stuck - 100);
  sampled();
  EXPECT_EQ(read(stuck).saturated, 0U);
  EXPECT_TRUE(certain());
}

TEST_F(PortCountsTest, AJumpBeyondWhatTheLinkCarriesIsAGap) {
  read(1000);
  sampled();
  EXPECT_TRUE(read(std::uint64_t{1} << 60U).gap);
  EXPECT_EQ(total(), 1000U);
  EXPECT_FALSE(certain());
}

TEST_F(PortCountsTest, ErrorCountersStickAtTheirOwnWidth) {
  Reading reading{.width = Width::Narrow,
                  .present = mask(Counter::SymbolErrors, Counter::LocalLinkIntegrityErrors)};
  reading.value[at(Counter::SymbolErrors)] = 0xffff;
  reading.value[at(Counter::LocalLinkIntegrityErrors)] = 14;
  EXPECT_EQ(advance(port, totals, reading, 1s, hdr).saturated, mask(Counter::SymbolErrors));
}

TEST(TimeToSaturate, IsThatOfTheSpecification) {
  EXPECT_NEAR(seconds(time_to_saturate(data_rate(LinkWidth::X4, LinkSpeed::Qdr))), 4.29, 0.01);
  EXPECT_EQ(time_to_saturate(BitRate{0}), FabricClock::duration::max());
}

// Whatever a counter does, its total never falls and never grows faster than twice what the link can do.
TEST(PortCountsProperty, TotalsOnlyGrowAndNeverByMoreThanTheLinkCarries) {
  EXPECT_TRUE(rc::check([](const std::vector<std::uint64_t>& values, bool narrow) {
    PortCounts port;
    CounterValues totals{};
    bool first = true;
    for (std::uint64_t value : values) {
      Reading reading{.width = narrow ? Width::Narrow : Width::Wide, .present = all_counters};
      reading.value.fill(narrow ? value & stuck : value);
      const CounterValues before = totals;
      advance(port, totals, reading, 1s, hdr);
      for (std::size_t i = 0; i < counter_count; ++i) {
        RC_ASSERT(totals[i] >= before[i]);
      }
      const auto grown = totals[0] - before[0];
      RC_ASSERT(first || static_cast<double>(grown) <= 2.5 * hdr.words_per_second);
      first = false;
    }
  }));
}

// Two counters with the same traffic, one of 64 bits and one of 32 that is reset in time: the same totals.
TEST(PortCountsProperty, NarrowCountersResetInTimeAddUpToTheWideOnes) {
  EXPECT_TRUE(rc::check([](const std::vector<std::uint32_t>& growth) {
    PortCounts wide;
    PortCounts narrow;
    CounterValues wide_totals{};
    CounterValues narrow_totals{};
    std::uint64_t real = 0;
    std::uint64_t seen = 0;
    for (std::uint32_t step : growth) {
      step >>= 2U;
      real += step;
      seen += step;
      RC_PRE(seen < stuck);
      Reading reading{.width = Width::Wide, .present = mask(Counter::XmitData)};
      reading.value[0] = real;
      advance(wide, wide_totals, reading, 1s, hdr);
      reading.width = Width::Narrow;
      reading.value[0] = seen;
      advance(narrow, narrow_totals, reading, 1s, hdr);
      if (seen > stuck / 2) {
        confirm_reset(narrow, narrow_totals, mask(Counter::XmitData));
        seen = 0;
      }
    }
    RC_ASSERT(wide_totals[0] == narrow_totals[0]);
  }));
}

}  // namespace
}  // namespace heddle::load
