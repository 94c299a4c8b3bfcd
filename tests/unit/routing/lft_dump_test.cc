#include "routing/lft_dump.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include "routing/minhop.h"
#include "unit/routing/test_fabrics.h"

namespace heddle::routing {
namespace {

using ::testing::HasSubstr;

struct Example {
  std::shared_ptr<const Fabric> fabric = shapes::two_level_tree(2, 2, 2).build(1);
  SwitchGraph graph = SwitchGraph::make(*fabric).value();
  ForwardingTables tables = route_minhop(graph, LinkSet::all(*fabric));
  std::string text = write_lft_dump(*fabric, graph, tables);
};

std::string error_of(const std::string& text) {
  const auto dump = parse_lft_dump(text, "x.lfts");
  return dump ? "" : dump.error().message;
}

std::string table_error(const Example& example, const std::string& text) {
  const auto tables = tables_of(parse_lft_dump(text, "x.lfts").value(), *example.fabric, example.graph);
  return tables ? "" : tables.error().message;
}

TEST(LftDump, WhatIsWrittenIsReadAgain) {
  const Example example;
  const auto dump = parse_lft_dump(example.text, "x.lfts").value();
  EXPECT_EQ(tables_of(dump, *example.fabric, example.graph).value(), example.tables);
}

// As opensm 3.3.23 wrote it.
TEST(LftDump, ReadsWhatOpensmWrites) {
  const auto dump = parse_lft_dump(
      "Unicast lids [0-3] of switch Lid 2 guid 0x0000000000000100 ('leaf'):\n"
      "0x0002 000 # Switch portguid 0x0000000000000100: 'leaf'\n"
      "0x0003 012 # Channel Adapter portguid 0x0000000010000001: 'host 'x' 1'\n"
      "3 lids dumped\n",
      "x.lfts");
  ASSERT_TRUE(dump);
  ASSERT_EQ(dump->switches.size(), 1U);
  EXPECT_EQ(dump->switches[0].lid, Lid{2});
  ASSERT_EQ(dump->switches[0].entries.size(), 2U);
  EXPECT_EQ(dump->switches[0].entries[1].port, PortNum{12});
  EXPECT_EQ(dump->switches[0].entries[1].owner, PortGuid{0x10000001});
}

TEST(LftDump, LidsOfTheRemarksAreGivenToAFabricWithoutAny) {
  const Example example;
  const auto dump = parse_lft_dump(example.text, "x.lfts").value();
  const auto bare = shapes::two_level_tree(2, 2, 2).build(0);
  const auto fabric = with_lids_of(dump, *bare).value();
  const SwitchGraph graph = SwitchGraph::make(*fabric).value();
  EXPECT_EQ(graph.targets().back().lmc, 1);
  EXPECT_EQ(tables_of(dump, *fabric, graph).value(), example.tables);
}

TEST(LftDump, ErrorsNameFileAndLine) {
  const std::string head = "Unicast lids [0-3] of switch Lid 1 guid 0x0000000000000100 ('a'):\n";
  EXPECT_THAT(error_of(""), HasSubstr("x.lfts: no table"));
  EXPECT_THAT(error_of("0x0001 001 # x\n"), HasSubstr("x.lfts:1:"));
  EXPECT_THAT(error_of(head + "nonsense\n"), HasSubstr("x.lfts:2: \"nonsense\""));
  EXPECT_THAT(error_of(head + "0xc000 001 #\n"), HasSubstr("x.lfts:2: LID 49152"));
  EXPECT_THAT(error_of(head + "0x0001 300 #\n"), HasSubstr("x.lfts:2:"));
  EXPECT_THAT(error_of(head + "0x0001 001 #\n0x0001 002 #\n"),
              HasSubstr("x.lfts:3: a second entry for LID 1"));
  EXPECT_THAT(error_of(head + head), HasSubstr("x.lfts:2: switch 0x0000000000000100 comes twice"));
}

TEST(LftDump, ContradictionsWithTheFabricAreSaid) {
  const Example example;
  EXPECT_THAT(table_error(example, "Unicast lids [0-3] of switch Lid 1 guid 0xbad ('a'):\n"),
              HasSubstr("x.lfts:1: 0x0000000000000bad is no switch"));
  EXPECT_THAT(table_error(example, "Unicast lids [0-3] of switch Lid 1 guid 0x100 ('a'):\n0x0001 099 #\n"),
              HasSubstr("x.lfts:2: LID 1 leaves"));
  EXPECT_THAT(table_error(example, "Unicast lids [0-3] of switch Lid 1 guid 0x100 ('a'):\n"),
              HasSubstr("no table for switch"));
  EXPECT_THAT(
      table_error(
          example,
          "Unicast lids [0-3] of switch Lid 1 guid 0x100 ('a'):\n0x0002 001 # portguid 0x10000001: 'h'\n"),
      HasSubstr("LID 2 belongs to"));
}

TEST(LftDump, AnyDamageIsReadOrRefused) {
  const Example example;
  EXPECT_TRUE(rc::check([&example] {
    std::string text = example.text;
    for (unsigned i = 0; i < 3; ++i) {
      text[*rc::gen::inRange<std::size_t>(0, text.size())] = *rc::gen::arbitrary<char>();
    }
    const auto dump = parse_lft_dump(text, "x");
    if (!dump) return;
    (void)with_lids_of(*dump, *example.fabric);
    (void)tables_of(*dump, *example.fabric, example.graph);
  }));
}

}  // namespace
}  // namespace heddle::routing
