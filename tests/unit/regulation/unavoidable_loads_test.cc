#include "regulation/unavoidable_loads.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace heddle::regulation {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

TEST(UnavoidableLoads, AreTheMostOfWhatWasMeasuredInEitherPlaneAndOfWhatIsPredicted) {
  UnavoidableLoads loads;
  EXPECT_THAT(loads.shares(), IsEmpty());
  loads.measured(0, {0.9, 0.1, 0.1, 0.1}, 100);
  loads.measured(1, {0.1, 0.8, 0.1, 0.1}, 104);
  loads.predicted({0.7, 0.7, 0.75, 0.7}, 98);
  EXPECT_THAT(loads.shares(), ElementsAre(0.9, 0.8, 0.75, 0.7));
  EXPECT_THAT(loads.ceilings(), ElementsAre(0.7, 0.7, 0.75, 0.7));
}

TEST(UnavoidableLoads, SayNothingOfOtherTraffic) {
  UnavoidableLoads loads;
  loads.measured(0, {0.9}, 100);
  loads.judge(105);
  EXPECT_THAT(loads.shares(), ElementsAre(0.9));
  loads.judge(111);
  EXPECT_THAT(loads.shares(), IsEmpty());
  loads.measured(0, {0.9}, 100);
  loads.judge(50);  // less may be a pause
  EXPECT_THAT(loads.shares(), ElementsAre(0.9));
  loads.predicted({0.7}, 50);
  EXPECT_THAT(loads.shares(), ElementsAre(0.7));
}

}  // namespace
}  // namespace heddle::regulation
