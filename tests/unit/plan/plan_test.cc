#include "plan/plan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "plan/checksum.h"
#include "support/golden.h"

namespace heddle::plan {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

PortRef port(std::uint64_t node, unsigned num) {
  return {NodeGuid{node}, PortNum{static_cast<std::uint8_t>(num)}};
}

QosTables tables(unsigned entries) {
  QosTables result;
  for (unsigned i = 0; i < entries; ++i) {
    result.arbitration.high.push_back(
        {Vl{static_cast<std::uint8_t>(i % 4)}, static_cast<std::uint8_t>(i + 1)});
  }
  result.arbitration.low = {{Vl{4}, 0}, {Vl{14}, 255}};
  result.arbitration.limit = qos::HighLimit{7};
  return result;
}

Plan example() {
  Plan plan;
  plan.epoch = 12;
  plan.ranks = {{NodeGuid{0x10}, 0}, {NodeGuid{0x20}, 1}, {NodeGuid{0xffffffffffffffff}, 65535}};
  plan.off = {{port(0x10, 1), port(0x20, 254)}};
  plan.forced = plan.off;
  plan.drained = {NodeGuid{0x10}, NodeGuid{0x20}};
  plan.planes.resize(2);
  plan.planes[0].avoid = {{port(0x10, 2), port(0x20, 2)}};
  plan.planes[1].staged = Staged{{{port(0x10, 3), port(0x20, 3)}}, 2};
  plan.qos.emplace();
  plan.qos->everywhere = tables(64);
  plan.qos->everywhere->sl2vl.emplace();
  plan.qos->everywhere->sl2vl->vl[3] = Vl{15};
  plan.qos->groups = {{{port(0x10, 0), port(0x20, 5)}, tables(1)}};
  plan.packet_life = std::chrono::milliseconds{50};
  return plan;
}

/// A good text with one part replaced, and a checksum that fits.
std::string altered(const std::string& part, const std::string& other) {
  std::string text = to_text(example());
  const std::size_t at = text.find(part);
  EXPECT_NE(at, std::string::npos) << part;
  text.replace(at, part.size(), other);
  const std::size_t body = std::string_view("{\"checksum\":\"0123456789abcdef\"").size();
  const std::string rest = text.substr(body);
  char sum[17];
  std::snprintf(sum, sizeof sum, "%016llx", static_cast<unsigned long long>(checksum(rest)));
  return std::string("{\"checksum\":\"") + sum + "\"" + rest;
}

TEST(Plan, IsReadAsItWasWritten) {
  const auto read = parse(to_text(example()), "plan.json");
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(*read, example());
}

/// A plugin of another version reads it.
TEST(Plan, IsWrittenAsItsGoldenFile) {
  expect_golden("answers/opensm/plan_with_everything.json", to_text(example()));
}

TEST(Plan, AnEmptyPlanIsAPlan) {
  const auto read = parse(to_text(Plan{}), "plan.json");
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(*read, Plan{});
}

TEST(Plan, TextDoesNotDependOnTheOrderOfCables) {
  Plan plan;
  plan.off = {{port(1, 1), port(2, 1)}, {port(1, 2), port(2, 2)}};
  Plan other = plan;
  std::swap(other.off[0], other.off[1]);
  EXPECT_EQ(to_text(plan), to_text(other));
}

TEST(Plan, EveryFlippedBitIsRefused) {
  const std::string good = to_text(example());
  for (std::size_t i = 0; i < good.size(); ++i) {
    for (unsigned bit = 0; bit < 8; ++bit) {
      std::string bad = good;
      bad[i] = static_cast<char>(static_cast<unsigned char>(bad[i]) ^ (1U << bit));
      const auto read = parse(bad, "plan.json");
      ASSERT_FALSE(read) << "byte " << i << " bit " << bit;
      ASSERT_THAT(read.error().message, StartsWith("plan.json: "));
    }
  }
}

TEST(Plan, EveryTruncationIsRefused) {
  const std::string good = to_text(example());
  for (std::size_t length = 0; length < good.size(); ++length) {
    ASSERT_FALSE(parse(std::string_view(good).substr(0, length), "plan.json")) << length;
  }
}

TEST(Plan, ALargerFileIsNotEvenRead) {
  const auto read = parse(std::string(max_bytes + 1, ' '), "plan.json");
  ASSERT_FALSE(read);
  EXPECT_THAT(read.error().message, HasSubstr("16777217 bytes; at most 16777216 are read"));
}

struct Bad {
  std::string part;
  std::string other;
  std::string message;
};
class BadPlans : public testing::TestWithParam<Bad> {};

TEST_P(BadPlans, NameTheKey) {
  const auto read = parse(altered(GetParam().part, GetParam().other), "p");
  ASSERT_FALSE(read);
  EXPECT_EQ(read.error().code, ErrorCode::Invalid);
  EXPECT_THAT(read.error().message, StartsWith("p: " + GetParam().message));
}

INSTANTIATE_TEST_SUITE_P(
    All, BadPlans,
    testing::Values(
        Bad{"\"version\":1", "\"version\":2", "version: 2, and this program reads 1"},
        Bad{"\"epoch\":12", "\"epoch\":-1", "epoch: not a whole number"},
        Bad{"\"epoch\":12", "\"epok\":12", "plan: unknown key \"epok\""},
        Bad{"\"epoch\":12,", "", "plan: key \"epoch\" is missing"},
        Bad{"\"0x0000000000000020\":1", "\"0x20\":1", "ranks: not a GUID"},
        Bad{":65535", ":65536", "ranks: 65536 is above 65535"},
        Bad{"0x0000000000000010/1", "0x0000000000000010/255", "off: not a port"},
        Bad{"0x0000000000000010/1", "0x0000000000000020/254",
            "off: port 0x0000000000000020/254 has two cables"},
        Bad{"\"drained\":[\"0x0000000000000010\"", "\"drained\":[7", "drained: not a text"},
        Bad{"\"drained\":[\"0x0000000000000010\"", "\"drained\":[\"0x10\"", "drained: not a GUID"},
        Bad{"\"drained\":[\"0x0000000000000010\"", "\"drained\":[\"0x0000000000000020\"",
            "drained: 0x0000000000000020 is named twice"},
        Bad{"{\"avoid\":[],", "{", "planes[1]: key \"avoid\" is missing"},
        Bad{",\"stage\":2", "", "planes[1]: key \"stage\" is missing"},
        Bad{",\n{\"avoid\":[]", ",{\"avoid\":[]},\n{\"avoid\":[]", "planes: 3 of them"},
        Bad{"[14,255]", "[15,255]", "qos.vlarb_low[1]: give [vl, weight]"},
        Bad{"[0,1],[1,2]", "[0,1],[0,1],[1,2]", "qos.vlarb_high: more than 64 entries"},
        Bad{"\"high_limit\":7", "\"high_limit\":256", "qos.high_limit: give a whole number from 0 to 255"},
        Bad{"[0,0,0,15,", "[0,0,15,", "qos.sl2vl: give 16 VLs"},
        Bad{"\"0x0000000000000020/5\"", "\"0x0000000000000010/0\"",
            "qos.groups[0].ports: port 0x0000000000000010/0 is named twice"},
        Bad{"}\n", "", "plan: not JSON"}, Bad{"\"off\":[[", "\"off\":[7,[", "off: not a list"}));

TEST(PlanQos, OfTheDesignerIsRead) {
  const auto qos = parse_qos(
      R"({"qos":{"vlarb_high":[[0,4]],"vlarb_low":[],"high_limit":3,"sl2vl":[0,1,2,3,4,5,6,7,0,0,0,0,0,0,0,0]}})",
      "qos.json");
  ASSERT_TRUE(qos) << qos.error().message;
  ASSERT_TRUE(qos->everywhere && qos->everywhere->sl2vl);
  EXPECT_EQ(qos->everywhere->arbitration.high, (qos::ArbTable{{Vl{0}, 4}}));
  EXPECT_EQ(qos->everywhere->sl2vl->vl[7], Vl{7});
  EXPECT_FALSE(parse_qos("{}", "q"));
  EXPECT_FALSE(parse_qos(to_text(example()), "q"));
}

TEST(PlanQos, OfNoPortIsReadAsItWasWritten) {
  Plan plan;
  plan.qos.emplace();
  const auto again = parse(to_text(plan), "again");
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_EQ(*again, plan);
}

TEST(PlanQos, AloneIsNoPlan) {
  const auto read = parse(R"({"qos":{"vlarb_high":[[0,4]],"vlarb_low":[],"high_limit":3}})", "plan.json");
  ASSERT_FALSE(read);
  EXPECT_THAT(read.error().message, HasSubstr("checksum"));
}

}  // namespace
}  // namespace heddle::plan
