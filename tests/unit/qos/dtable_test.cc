#include "qos/dtable.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include "base/random.h"

namespace heddle::qos {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

/// facts/qos.md 3, the example of the bandwidth correction.
DTableRequest three_classes() {
  return {.entries = 128,
          .gmtu = 3,
          .k = 3,
          .w = 4,
          .classes = {{"SL0", 2, 1, 0.33334}, {"SL1", 4, 2, 0.33333}, {"SL2", 4, 3, 0.33333}}};
}

TEST(DTable, TheExampleOfTheThesisNumberByNumber) {
  const auto design = design_dtable(three_classes());
  ASSERT_TRUE(design) << design.error().message;
  EXPECT_DOUBLE_EQ(design->pool, 1152);
  EXPECT_DOUBLE_EQ(design->max_weight, 12);
  const auto& sl0 = design->columns[0];
  const auto& sl1 = design->columns[1];
  const auto& sl2 = design->columns[2];
  EXPECT_EQ(sl0.entries, 64U);
  EXPECT_EQ(sl1.entries, 32U);
  EXPECT_EQ(sl2.entries, 32U);
  EXPECT_NEAR(sl0.min_share, 64.0 / 1152, 1e-12);
  EXPECT_NEAR(sl2.min_share, 96.0 / 1152, 1e-12);
  EXPECT_NEAR(sl0.max_share, 64.0 * 12 / 1152, 1e-12);
  EXPECT_NEAR(sl1.max_share, 32.0 * 12 / 1152, 1e-12);
  EXPECT_NEAR(sl0.total, 384.008, 1e-3);
  EXPECT_EQ(sl0.weight, 7U);
  EXPECT_EQ(sl1.weight, 12U);
  EXPECT_EQ(sl2.weight, 12U);
  EXPECT_EQ(sl0.rounded_total, 448U);
  EXPECT_EQ(sl1.rounded_total, 384U);
  EXPECT_NEAR(sl0.rounded_share, 0.36842, 5e-6);
  EXPECT_NEAR(sl1.rounded_share, 0.31579, 5e-6);
  EXPECT_EQ(sl0.correction, -43);
  EXPECT_EQ(sl1.correction, 21);
  EXPECT_EQ(sl2.correction, 21);
  EXPECT_EQ(sl0.corrected_total, 405U);
  EXPECT_EQ(sl1.corrected_total, 405U);
  EXPECT_EQ(sl2.corrected_total, 405U);
}

TEST(DTable, CorrectionGoesBackwardsFromTheEnd) {
  const auto at = [](unsigned lane, std::uint32_t weight) {
    return DTableEntry{Lane{static_cast<std::uint8_t>(lane)}, weight};
  };
  DTable table{at(0, 4), at(1, 2), at(0, 4), at(2, 3), at(0, 4), at(1, 2), at(0, 4), at(2, 3)};
  correct_weights(table, {-3, 1, 2}, {1, 1, 1});
  EXPECT_EQ(table, (DTable{at(0, 4), at(1, 2), at(0, 3), at(2, 4), at(0, 3), at(1, 3), at(0, 3), at(2, 4)}));
}

TEST(DTable, CorrectionStopsAtOneMessagePerEntry) {
  DTable table{{Lane{0}, 3}, {Lane{0}, 2}};
  correct_weights(table, {-5}, {2});
  EXPECT_EQ(table, (DTable{{Lane{0}, 2}, {Lane{0}, 2}}));
}

TEST(DTable, PlacementByDistance) {
  EXPECT_THAT(place_by_distance(16, {2, 4, 4}).value(), ElementsAre(0, 1, 3));
  EXPECT_THAT(place_by_distance(128, {16, 2, 4, 8, 16}).value(), ElementsAre(7, 0, 1, 3, 15));
  EXPECT_THAT(place_by_distance(8, {2, 2, 8}).error().message, HasSubstr("no room for 1 more entries"));
  EXPECT_THAT(place_by_distance(8, {3}).error().message, HasSubstr("distance 3 is not a power of two"));
}

TEST(DTable, EveryPowerOfTwoStaysAvailableWhileThereIsRoom) {
  EXPECT_TRUE(rc::check([] {
    Random random{*rc::gen::arbitrary<std::uint64_t>()};
    std::vector<std::uint32_t> distances;
    std::uint32_t used = 0;
    while (used < 64) {
      const std::uint32_t distance = 2U << random.below(6);
      if (used + 64 / distance > 64) continue;
      distances.push_back(distance);
      used += 64 / distance;
    }
    RC_ASSERT(place_by_distance(64, distances));
  }));
}

TEST(DTable, SearchesKThenW) {
  DTableRequest request{
      .entries = 64, .gmtu = 16, .k = {}, .w = {}, .classes = {{"a", 2, 2, 0.1}, {"b", 2, 16, 0.9}}};
  const auto design = design_dtable(request);
  ASSERT_TRUE(design) << design.error().message;
  // a: 2 / (32 k) < 0.1 from k = 0.7. b: w / (2 k) > 0.9 from w = 1.3.
  EXPECT_DOUBLE_EQ(design->k, 0.7);
  EXPECT_DOUBLE_EQ(design->w, 1.3);
}

TEST(DTable, SaysWhatDoesNotFit) {
  auto request = three_classes();
  request.classes[1].share = 0.5;
  EXPECT_THAT(design_dtable(request).error().message, HasSubstr("sum to"));
  request.classes[1].share = 0.334;
  request.classes[0].share = 0.2;
  EXPECT_THAT(design_dtable(request).error().message,
              HasSubstr("SL1: with k 3 and w 4 its entries give at most"));
  request.classes[1].share = 0.01;
  EXPECT_THAT(design_dtable(request).error().message, HasSubstr("SL1: with k 3 its entries give at least"));
  request.classes[1].distance = 5;
  EXPECT_THAT(design_dtable(request).error().message, HasSubstr("distance 5"));
  request.classes[1].mtu = 4;
  EXPECT_THAT(design_dtable(request).error().message, HasSubstr("SL1: messages of 4 credits"));
  EXPECT_THAT(design_dtable({}).error().message, HasSubstr("0 entries"));
}

/// Shares of a corrected table under DTable arbitration, messages of one MTU, are those of its weights.
TEST(DTable, TheArbiterGivesWhatTheTableSays) {
  const auto request = three_classes();
  const auto design = design_dtable(request);
  DTableArbiter arbiter{design->corrected};
  const std::vector<std::uint32_t> heads{64, 128, 192};
  std::vector<double> sent(3, 0);
  for (int i = 0; i < 60'000; ++i) {
    const auto pick = arbiter.select(heads);
    sent[pick->lane.raw()] += heads[pick->lane.raw()];
  }
  const double sum = sent[0] + sent[1] + sent[2];
  for (std::size_t i = 0; i < 3; ++i) EXPECT_NEAR(sent[i] / sum, request.classes[i].share, 1e-3);
}

TEST(Sbt, WeightsSumToAHundred) {
  EXPECT_THAT(sbt_weights({0.6, 0.3, 0.1}), ElementsAre(60, 30, 10));
  EXPECT_THAT(sbt_weights({1, 1, 1}), ElementsAre(34, 33, 33));
  EXPECT_THAT(sbt_weights({}), ElementsAre());
}

}  // namespace
}  // namespace heddle::qos
