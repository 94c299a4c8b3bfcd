// The General policy and its lower bound against the least set of links, by a solver that shares no code with
// them.
#include <gtest/gtest.h>

#include "support/least_set.h"
#include "support/regulation_case.h"

namespace heddle::testing_support {
namespace {

/// Never reached by any case here: what is not proven by then fails.
constexpr unsigned most_seconds = 600;

struct Small {
  const char* fabric;
  double load;
  double most_times = 1;  ///< the least, that the selection draws
};

class LeastTest : public testing::TestWithParam<Small> {};

TEST_P(LeastTest, LiesBetweenTheBoundAndTheSelection) {
  const Small small = GetParam();
  RegulationCase site{small.fabric};
  site.uniform(small.load);
  regulation::SelectOptions options;
  options.policy = regulation::SelectPolicy::General;
  options.margin = Ratio{0};
  const auto selection = regulation::select_links(site.problem, options);
  ASSERT_TRUE(selection);
  const auto limits = site.limits(*selection);
  const LeastSet least = LeastSetProgram{site.problem, limits}.solve(most_seconds);
  ASSERT_TRUE(least.is_exact);
  EXPECT_LE(selection->least_watts.value(), least.watts * (1 + 1e-6));
  EXPECT_GE(selection->watts.value() * (1 + 1e-6), least.watts);
  EXPECT_LE(selection->watts.value(), small.most_times * least.watts * (1 + 1e-6));
}

INSTANTIATE_TEST_SUITE_P(Fabrics, LeastTest,
                         testing::Values(Small{"mesh:2x3,hosts=2,links=2,speed=DDR", 0.2, 1.2},
                                         Small{"torus:3x3,hosts=1,links=2,speed=DDR", 0.1, 1.2},
                                         Small{"xgft:2;4,4;1,4", 0.1, 1.2},
                                         Small{"xgft:2;4,4;1,4", 0.5, 1.2}));

// With one way to each switch nothing can leave but spare links of trunks.
TEST(LeastSetTest, ATreeKeepsOneLinkOfEachTrunk) {
  RegulationCase site{"mesh:4,hosts=1,links=3,speed=DDR"};
  site.uniform(0.05);
  std::vector<double> limits(site.loads.hop.size(), site.network->capacity(LinkIndex{0}));
  const LeastSet least = LeastSetProgram{site.problem, limits}.solve(most_seconds);
  ASSERT_TRUE(least.is_exact);
  EXPECT_NEAR(least.watts, 3 * 1.9, 1e-6);     // 2 x 0.95 W a link (table 1)
  for (double& limit : limits) limit *= 0.05;  // the middle one carries a quarter of two hosts' traffic
  const LeastSet more = LeastSetProgram{site.problem, limits}.solve(most_seconds);
  ASSERT_TRUE(more.is_exact);
  // Two hosts send two thirds of it over the middle: 1.33 times a limit; the outer ones carry one host's.
  EXPECT_NEAR(more.watts, 4 * 1.9, 1e-6);
}

}  // namespace
}  // namespace heddle::testing_support
