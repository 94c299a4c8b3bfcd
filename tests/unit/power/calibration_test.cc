#include "power/calibration.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "fabric/generators.h"

namespace heddle::power {
namespace {

/// Four switches, each with 2 hosts and 2 links to each of two others: 6 ports on.
class CalibrationTest : public testing::Test {
 protected:
  [[nodiscard]] Calibration fit(std::vector<Reading> readings, const PowerModel& model = {}) const {
    return calibrate(model, *fabric_, modes_, readings);
  }
  [[nodiscard]] const Node& node(const std::string& name) const {
    for (const Node& each : fabric_->nodes()) {
      if (each.description == name) return each;
    }
    return fabric_->nodes().front();
  }

  std::shared_ptr<const Fabric> fabric_ = *generate("torus:2x2,hosts=2,links=2,speed=DDR,ports=24");
  std::vector<LinkMode> modes_ = all_on(*fabric_);
  static constexpr LinkMode ddr{LinkWidth::X4, LinkSpeed::Ddr};
};

TEST_F(CalibrationTest, OneReadingMovesTheBase) {
  const double ports = PowerModel{}.port(node("sw-0-0"), ddr).watts.value();
  double on = 0;
  for (const Link& link : fabric_->links()) {
    for (const LinkEnd end : {link.a, link.b}) on += fabric_->node(end.node).description == "sw-0-0" ? 1 : 0;
  }
  const Calibration fitted = fit({{"sw-0-0", Watts{100}, std::nullopt}});
  ASSERT_EQ(fitted.compared.size(), 1U);
  EXPECT_NEAR(fitted.compared[0].modelled.value(), 43.4 + on * ports, 1e-9);
  EXPECT_NEAR(fitted.compared[0].calibrated.value(), 100, 1e-9);
  EXPECT_NEAR(fitted.model.base(node("sw-1-1")).value(), 100 - on * ports, 1e-9);
  EXPECT_NEAR(fitted.model.port(node("sw-1-1"), ddr).watts.value(), ports, 1e-9);
}

TEST_F(CalibrationTest, ReadingsWithOtherNumbersOfPortsTellWhatAPortDraws) {
  // 60 W and 2.5 W a port; one reading is 1 W too high, one 1 W too low, at the same number of ports.
  const Calibration fitted = fit({{"sw-0-0", Watts{62.5}, 1},
                                  {"sw-0-1", Watts{86}, 10},
                                  {"sw-0-1", Watts{84}, 10},
                                  {"sw-1-0", Watts{110}, 20}});
  EXPECT_NEAR(fitted.model.base(node("sw-1-1")).value(), 60, 1e-9);
  EXPECT_NEAR(fitted.model.port(node("sw-1-1"), ddr).watts.value(), 2.5, 1e-9);
  EXPECT_NEAR(fitted.compared[3].calibrated.value(), 110, 1e-9);
}

TEST_F(CalibrationTest, NothingFallsBelowNothing) {
  const Calibration less = fit({{"sw-0-0", Watts{1}, std::nullopt}});
  EXPECT_DOUBLE_EQ(less.model.base(node("sw-0-0")).value(), 0);
  const Calibration falling = fit({{"sw-0-0", Watts{90}, 1}, {"sw-0-0", Watts{80}, 20}});
  EXPECT_DOUBLE_EQ(falling.model.base(node("sw-0-0")).value(), 85);
  EXPECT_DOUBLE_EQ(falling.model.port(node("sw-0-0"), ddr).watts.value(), 0);
}

TEST_F(CalibrationTest, ASwitchThatNobodyKnewIsKnownThen) {
  const PowerModel none{{}, Unmatched::Unknown};
  EXPECT_TRUE(none.is_unknown(node("sw-0-0")));
  const Calibration fitted = fit({{"sw-0-0", Watts{70}, 4}, {"sw-0-0", Watts{90}, 14}}, none);
  EXPECT_FALSE(fitted.model.is_unknown(node("sw-1-1")));
  EXPECT_NEAR(fitted.model.base(node("sw-1-1")).value(), 62, 1e-9);
  EXPECT_DOUBLE_EQ(fitted.compared[0].modelled.value(), 0);
}

TEST_F(CalibrationTest, ReadingsOfNobodyAreSaid) {
  const Calibration fitted = fit({{"leaf-7", Watts{70}, 4}});
  EXPECT_THAT(fitted.unmatched, testing::ElementsAre("leaf-7"));
  EXPECT_TRUE(fitted.compared.empty());
}

}  // namespace
}  // namespace heddle::power
