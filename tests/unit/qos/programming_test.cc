#include "qos/programming.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "qos_support.h"

namespace heddle::qos {
namespace {

using testing::HasSubstr;

Programming configuration_a_on_four_sls() {
  Programming out{configuration_a(), {}};
  for (unsigned sl = 0; sl < 4; ++sl) out.map.vl[sl] = Vl{static_cast<std::uint8_t>(sl)};
  return out;
}

TEST(Plan, WhatIsWrittenIsRead) {
  const Programming plan = configuration_a_on_four_sls();
  const auto read = parse_plan(plan_text(plan), "a.json");
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(*read, plan);
}

TEST(Plan, OtherPartsOfAPlanAreLeftToOthers) {
  const auto read = parse_plan(
      R"({"epoch": 7, "qos": {"vlarb_high": [[0, 255]], "high_limit": 0, "sl2vl": [0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,15]}})",
      "plan");
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(read->tables.high, (ArbTable{entry(0, 255)}));
  EXPECT_TRUE(read->tables.low.empty());
  EXPECT_EQ(read->tables.limit, one_packet);
  EXPECT_EQ(read->map.vl[15], drop_vl);
}

TEST(Plan, RubbishIsRefusedWithFileAndLineOrKey) {
  const std::string map = R"("sl2vl": [0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0])";
  const std::string limit = R"("high_limit": 1)";
  const auto refusal = [](const std::string& text) {
    const auto read = parse_plan(text, "p.json");
    EXPECT_FALSE(read) << text;
    return read ? std::string{} : read.error().message;
  };
  const auto with_high = [&](const std::string& high) {
    return R"({"qos": {"vlarb_high": )" + high + ", " + limit + ", " + map + "}}";
  };
  EXPECT_THAT(refusal(""), HasSubstr("p.json:1: not JSON"));
  EXPECT_THAT(refusal("{\n\"qos\": {\n\"vlarb_high\": x}}"), HasSubstr("p.json:3: not JSON"));
  EXPECT_THAT(refusal("{} {}"), HasSubstr("p.json:1: not JSON"));
  EXPECT_THAT(refusal("[]"), HasSubstr("p.json: no object 'qos'"));
  EXPECT_THAT(refusal(R"({"qos": {"vlarb_hihg": []}})"), HasSubstr("qos.vlarb_hihg: is not known"));
  EXPECT_THAT(refusal(with_high("[]")), HasSubstr("high table: no entry with a weight"));
  EXPECT_THAT(refusal(with_high("[[0, 256]]")), HasSubstr("qos.vlarb_high[0]: give [vl, weight]"));
  EXPECT_THAT(refusal(with_high("[[0, 1], [15, 1]]")), HasSubstr("qos.vlarb_high[1]"));
  EXPECT_THAT(refusal(with_high("[[0, -1]]")), HasSubstr("qos.vlarb_high[0]"));
  EXPECT_THAT(refusal(with_high("[[0, 1, 2]]")), HasSubstr("qos.vlarb_high[0]"));
  EXPECT_THAT(refusal(with_high("7")), HasSubstr("qos.vlarb_high: give a list"));
  std::string many = "[[0,1]";
  for (int i = 0; i < 64; ++i) many += ",[0,1]";
  EXPECT_THAT(refusal(with_high(many + "]")), HasSubstr("qos.vlarb_high: more than 64 entries"));
  EXPECT_THAT(refusal(R"({"qos": {"vlarb_high": [[0,1]], "high_limit": 256, )" + map + "}}"),
              HasSubstr("qos.high_limit: give a whole number from 0 to 255"));
  EXPECT_THAT(refusal(R"({"qos": {"vlarb_high": [[0,1]], )" + limit + R"(, "sl2vl": [0]}})"),
              HasSubstr("qos.sl2vl: give 16 VLs"));
}

TEST(Plan, AnSlOnAVlThatNobodyServesIsRefused) {
  Programming plan = configuration_a_on_four_sls();
  plan.map.vl[9] = Vl{5};
  const auto good = check(plan, {});
  ASSERT_FALSE(good);
  EXPECT_THAT(good.error().message, HasSubstr("SL9 maps to VL5, which no table serves"));
  plan.map.vl[9] = drop_vl;
  EXPECT_TRUE(check(plan, {}));
}

}  // namespace
}  // namespace heddle::qos
