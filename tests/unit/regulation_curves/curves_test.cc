// The shapes of the paper's curves at flow level (facts/regulation.md 1, results to reproduce).
#include <gtest/gtest.h>

#include "support/regulated_flows.h"

namespace heddle::testing_support {
namespace {

using regulation::SelectPolicy;

TEST(CurvesTest, PowerFallsLinearlyByUpTo19Percent) {
  RegulatedFlows site{paper_torus(4), paper_options(SelectPolicy::Trunk)};
  site.set_traffic(Pattern::Neighbour, 0.1);
  const std::vector<Order> orders{by_turns(*site.network), at_random(*site.network, 1)};
  const auto points = curve(site, 8, orders);
  ASSERT_GT(points.size(), 5U);
  // 2 x 0.95 W a link (table 1).
  for (const CurvePoint& point : points)
    EXPECT_NEAR(point.watts, points.front().watts - 1.9 * static_cast<double>(point.off), 1e-6);
  EXPECT_NEAR(1 - points.back().watts / points.front().watts, 0.191, 0.001);
}

TEST(CurvesTest, NeighbourTrafficKeepsItsThroughputWithOneLinkATrunk) {
  RegulatedFlows site{paper_torus(4), paper_options(SelectPolicy::Trunk)};
  site.set_traffic(Pattern::Neighbour, 0.5);
  const std::vector<Order> orders{by_turns(*site.network), at_random(*site.network, 1)};
  for (const CurvePoint& point : curve(site, 16, orders)) EXPECT_NEAR(point.least, 1, 0.01);
}

// Over random orders; when links leave by turns, it falls whenever the last trunk has one less.
TEST(CurvesTest, UniformTrafficLosesThroughputLinearly) {
  for (const double load : {0.5, 1.0}) {
    SCOPED_TRACE(load);
    RegulatedFlows site{paper_torus(8), paper_options(SelectPolicy::Trunk)};
    site.set_traffic(Pattern::Uniform, load);
    std::vector<Order> orders;
    for (unsigned seed = 1; seed <= 5; ++seed) orders.push_back(at_random(*site.network, seed));
    const auto points = curve(site, 48, orders);
    ASSERT_EQ(points.size(), 9U);
    for (std::size_t i = 1; i < points.size(); ++i)
      EXPECT_LE(points[i].delivered, points[i - 1].delivered + 0.002);
    const Line line = fit_line(points);
    EXPECT_LT(line.per_link, -1e-4);  // share of what is offered, by link
    EXPECT_GT(line.explained, 0.96);
    EXPECT_LT(line.farthest, 0.04);
  }
}

TEST(CurvesTest, RandomOrdersLeaveOneLinkOfEachTrunk) {
  RegulatedFlows site{paper_torus(4), paper_options(SelectPolicy::Trunk)};
  for (const Order& order : {by_turns(*site.network), at_random(*site.network, 3)}) {
    auto left = routing::LinkSet::all(*site.fabric);
    for (const LinkIndex link : order) left.erase(link);
    EXPECT_EQ(order.size(), 96U);
    EXPECT_EQ(site.fabric->links().size() - left.count(), 96U);
    for (const auto& trunk : site.network->trunks())
      EXPECT_TRUE(std::any_of(trunk.links.begin(), trunk.links.end(),
                              [&](LinkIndex link) { return left.contains(link); }));
  }
}

TEST(CurvesTest, ALineIsFoundBehindTheKnee) {
  std::vector<CurvePoint> points;
  for (std::size_t off = 0; off <= 100; off += 10)
    points.push_back({off, 0, off <= 40 ? 1.0 : 1.0 - 0.002 * static_cast<double>(off - 40)});
  const Line line = fit_line(points);
  EXPECT_EQ(line.from, 40U);
  EXPECT_NEAR(line.at_from, 1, 1e-9);
  EXPECT_NEAR(line.per_link, -0.002, 1e-9);
  EXPECT_NEAR(line.explained, 1, 1e-9);
  EXPECT_NEAR(line.farthest, 0, 1e-9);
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

/// Of the network's power, after an hour; nothing is lost for it.
double saved(SelectPolicy policy, Pattern pattern, double load) {
  RegulatedFlows site{paper_torus(8), paper_options(policy)};
  site.set_traffic(pattern, load);
  const Watts all = site.power();
  site.settle(std::chrono::minutes{60});
  EXPECT_GE(site.now().delivered, 0.9999 * site.delivered_with_all_on());
  EXPECT_EQ(site.into_off, 0U);
  return 1 - site.power() / all;
}

// A few links that would rather be exchanged hold up none that can leave without that.
TEST(GeneralTest, LeavesNoLinkOnForOthersThatWouldComeBack) {
  EXPECT_GE(saved(SelectPolicy::General, Pattern::Neighbour, 0.5), 0.22);
}

// Estimates are wrong there by half of the traffic.
TEST(GeneralTest, SavesAsMuchAsTheTrunkRuleWhereItsEstimateIsWrong) {
  EXPECT_GE(saved(SelectPolicy::General, Pattern::BitReversal, 0.5),
            saved(SelectPolicy::Trunk, Pattern::BitReversal, 0.5));
}

}  // namespace
}  // namespace heddle::testing_support
