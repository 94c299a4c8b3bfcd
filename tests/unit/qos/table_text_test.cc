#include "qos/table_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>

namespace heddle::qos {
namespace {

using testing::HasSubstr;

ArbEntry entry_of(unsigned vl, unsigned weight) {
  return {Vl{static_cast<std::uint8_t>(vl)}, static_cast<std::uint8_t>(weight)};
}

std::string repeated(const std::string& line, int times) {
  std::string out;
  for (int i = 0; i < times; ++i) out += line;
  return out;
}

TEST(TableText, LinesOfTheThesis) {
  const auto table = parse_table("# high\n0,8\n\n1, 255 # bulk\r\n0,0", "a.txt", WhichTable::High);
  ASSERT_TRUE(table) << table.error().message;
  EXPECT_EQ(*table, (ArbTable{entry_of(0, 8), entry_of(1, 255), entry_of(0, 0)}));
}

TEST(TableText, OptionsOfOpenSm) {
  const auto table = parse_table("0:4,1:0, 14:255\n", "opensm", WhichTable::High);
  ASSERT_TRUE(table) << table.error().message;
  EXPECT_EQ(*table, (ArbTable{entry_of(0, 4), entry_of(1, 0), entry_of(14, 255)}));
}

TEST(TableText, AnEmptyLowTableIsATable) {
  EXPECT_EQ(parse_table("", "low", WhichTable::Low).value(), ArbTable{});
}

struct BadTable {
  std::string text;
  std::string message;
};
class BadTables : public testing::TestWithParam<BadTable> {};

TEST_P(BadTables, NameFileLineAndReason) {
  const auto table = parse_table(GetParam().text, "t.csv", WhichTable::High, {.data_vls = 8});
  ASSERT_FALSE(table);
  EXPECT_EQ(table.error().code, ErrorCode::Invalid);
  EXPECT_EQ(table.error().message, GetParam().message);
}

INSTANTIATE_TEST_SUITE_P(
    All, BadTables,
    testing::Values(
        BadTable{repeated("0,1\n", 65), "t.csv:65: more than 64 entries"},
        BadTable{"0,1\n15,1\n", "t.csv:2: VL 15 cannot be in a table, use 0 to 14"},
        BadTable{"0,256\n", "t.csv:1: weight 256 is above 255"},
        BadTable{"0,99999999999999999999\n", "t.csv:1: weight 99999999999999999999 is above 255"},
        BadTable{"0,1\n\n8,1\n", "t.csv:3: VL 8 is beyond the port, which has VL 0 to 7"},
        BadTable{"", "t.csv:1: the high table is empty, give at least one entry with a weight above 0"},
        BadTable{"0,0\n1,0\n",
                 "t.csv:2: the high table is empty, give at least one entry with a weight above 0"},
        BadTable{"0\n", "t.csv:1: '0' is not VL,weight"},
        BadTable{"0,-1\n", "t.csv:1: '0,-1' is not VL,weight"},
        BadTable{"0,1,2\n", "t.csv:1: '0,1,2' is not VL,weight"},
        BadTable{"0:1,2\n", "t.csv:1: '2' is not VL:weight"},
        BadTable{"\x01\xff rubbish that goes on and on",
                 "t.csv:1: '?? rubbish that goes on ...' is not VL,weight"}));

TEST(TableText, Sl2Vl) {
  const auto map = parse_sl2vl("0,1,2,3,4,5,6,7,0,0,0,0,0,0,0,15\n", "m", {.data_vls = 8});
  ASSERT_TRUE(map) << map.error().message;
  EXPECT_EQ(map->vl[3], Vl{3});
  EXPECT_EQ(map->vl[15], drop_vl);
  EXPECT_THAT(parse_sl2vl("0,1", "m").error().message, HasSubstr("m:1: 2 VLs"));
  EXPECT_THAT(parse_sl2vl("0,1,2,3,4,5,6,7,8,0,0,0,0,0,0,0", "m", {.data_vls = 8}).error().message,
              HasSubstr("SL 8 maps to VL 8"));
  EXPECT_THAT(parse_sl2vl("0,x", "m").error().message, HasSubstr("'x' is not a VL"));
}

TEST(TableText, OptionsForOneKindOfPort) {
  VlArbitration tables{{entry_of(0, 4), entry_of(1, 8)}, {}, HighLimit{3}};
  Sl2Vl map;
  map.vl[1] = Vl{1};
  EXPECT_EQ(opensm_options("qos_swe", tables, map, 2),
            "qos_swe_max_vls 2\nqos_swe_high_limit 3\nqos_swe_vlarb_high 0:4,1:8\nqos_swe_vlarb_low 0:0\n"
            "qos_swe_sl2vl 0,1,0,0,0,0,0,0,0,0,0,0,0,0,0,0\n");
}

TEST(TableText, WhatIsWrittenIsReadBack) {
  EXPECT_TRUE(rc::check([] {
    const auto pairs = *rc::gen::container<std::vector<std::pair<int, int>>>(
        rc::gen::pair(rc::gen::inRange(0, 15), rc::gen::inRange(0, 256)));
    ArbTable table;
    for (const auto& [vl, weight] : pairs) {
      if (table.size() < max_entries) table.push_back(entry_of(vl, weight));
    }
    RC_ASSERT(parse_table(to_lines(table), "f", WhichTable::Low).value() == table);
    RC_ASSERT(parse_table(to_opensm(table), "f", WhichTable::Low).value() == table);
  }));
}

TEST(TableText, AnyBytesAreATableOrAnError) {
  EXPECT_TRUE(rc::check([](const std::string& text) {
    const auto table = parse_table(text, "f", WhichTable::High);
    RC_ASSERT(table || table.error().message.starts_with("f:"));
    const auto map = parse_sl2vl(text, "f");
    RC_ASSERT(map || map.error().message.starts_with("f:"));
  }));
}

TEST(Tables, CheckAgainstAPort) {
  VlArbitration tables{{entry_of(3, 1)}, {entry_of(4, 1)}, HighLimit{1}};
  EXPECT_TRUE(check(tables, {.data_vls = 8}));
  EXPECT_THAT(check(tables, {.data_vls = 4}).error().message, HasSubstr("low table, entry 0: VL4 is beyond"));
  EXPECT_THAT(check(tables, {.low_entries = 0}).error().message, HasSubstr("low table: 1 entries"));
  tables.high = {entry_of(0, 0)};
  EXPECT_THAT(check(tables, {}).error().message, HasSubstr("high table: no entry"));
  tables.high = {entry_of(15, 0)};
  EXPECT_THAT(check(tables, {}).error().message, HasSubstr("VL15 cannot be"));
}

TEST(Tables, OperationalVls) {
  EXPECT_EQ(data_vls(1).value(), 1U);
  EXPECT_EQ(data_vls(3).value(), 4U);
  EXPECT_EQ(data_vls(5).value(), 15U);
  EXPECT_FALSE(data_vls(0));
  EXPECT_FALSE(data_vls(6));
}

}  // namespace
}  // namespace heddle::qos
