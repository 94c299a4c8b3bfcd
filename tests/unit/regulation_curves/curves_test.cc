// The shapes of the paper's curves at flow level (spec/regulation.md 1, results to reproduce).
#include <gtest/gtest.h>

#include "support/regulated_flows.h"

namespace heddle::testing_support {
namespace {

using regulation::SelectPolicy;

TEST(CurvesTest, PowerFallsLinearlyByUpTo19Percent) {
  RegulatedFlows site{paper_torus(4), paper_options(SelectPolicy::Trunk)};
  site.set_traffic(Pattern::Neighbour, 0.1);
  const auto points = curve(site, 8);
  ASSERT_GT(points.size(), 5U);
  // 2 x 0.95 W a link (table 1).
  for (const CurvePoint& point : points)
    EXPECT_NEAR(point.watts, points.front().watts - 1.9 * static_cast<double>(point.off), 1e-6);
  EXPECT_NEAR(1 - points.back().watts / points.front().watts, 0.191, 0.001);
}

TEST(CurvesTest, NeighbourTrafficKeepsItsThroughputWithOneLinkATrunk) {
  RegulatedFlows site{paper_torus(4), paper_options(SelectPolicy::Trunk)};
  site.set_traffic(Pattern::Neighbour, 0.5);
  for (const CurvePoint& point : curve(site, 16)) EXPECT_NEAR(point.delivered, 1, 0.01);
}

TEST(CurvesTest, UniformTrafficLosesThroughputOnceLinksAreFull) {
  RegulatedFlows site{paper_torus(8), paper_options(SelectPolicy::Trunk)};
  site.set_traffic(Pattern::Uniform, 1.0);
  const auto points = curve(site, 128);
  ASSERT_EQ(points.size(), 4U);
  for (std::size_t i = 1; i < points.size(); ++i) EXPECT_LT(points[i].delivered, points[i - 1].delivered);
}

struct LoopCase {
  unsigned side;
  Pattern pattern;
  double load;
};
class LoopTest : public testing::TestWithParam<LoopCase> {};

// At least 13 % of the network's power with throughput within 1 % of all links on, no flow ever routed into a
// link that is off, and hardly a link that comes back.
TEST_P(LoopTest, SavesThirteenPercentAndLosesNothing) {
  const auto [side, pattern, load] = GetParam();
  RegulatedFlows site{paper_torus(side), paper_options(SelectPolicy::Trunk)};
  site.set_traffic(pattern, load);

  const Watts all = site.power();
  site.settle();
  EXPECT_GE(1 - site.power() / all, 0.13);
  EXPECT_GE(site.now().delivered, 0.99 * site.delivered_with_all_on());
  EXPECT_EQ(site.into_off, 0U);
  EXPECT_LE(static_cast<double>(site.transitions), 1.25 * static_cast<double>(site.off()));
}

INSTANTIATE_TEST_SUITE_P(
    PaperTori, LoopTest,
    testing::Values(LoopCase{4, Pattern::Neighbour, 0.1}, LoopCase{4, Pattern::Neighbour, 0.3},
                    LoopCase{4, Pattern::Neighbour, 0.5}, LoopCase{4, Pattern::BitReversal, 0.1},
                    LoopCase{4, Pattern::BitReversal, 0.3}, LoopCase{4, Pattern::BitReversal, 0.5},
                    LoopCase{8, Pattern::Neighbour, 0.1}, LoopCase{8, Pattern::Neighbour, 0.3},
                    LoopCase{8, Pattern::Neighbour, 0.5}, LoopCase{8, Pattern::BitReversal, 0.1},
                    LoopCase{8, Pattern::BitReversal, 0.3}, LoopCase{8, Pattern::BitReversal, 0.5}),
    [](const auto& each) {
      std::string text = std::to_string(each.param.side) + "x" + std::to_string(each.param.side) + "_" +
                         name(each.param.pattern) + "_" +
                         std::to_string(static_cast<int>(10 * each.param.load));
      std::replace(text.begin(), text.end(), '-', '_');
      return text;
    });

}  // namespace
}  // namespace heddle::testing_support
