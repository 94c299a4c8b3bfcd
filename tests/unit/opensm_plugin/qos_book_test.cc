#include "core/qos_book.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/options.h"

namespace heddle::plugin {
namespace {

using testing::HasSubstr;

plan::QosTables full_tables() {
  plan::QosTables tables;
  for (unsigned i = 0; i < 64; ++i) {
    tables.arbitration.high.push_back(
        {Vl{static_cast<std::uint8_t>(i % 8)}, static_cast<std::uint8_t>(i + 1)});
  }
  tables.arbitration.low = {{Vl{3}, 9}};
  return tables;
}

TEST(QosBook, GroupsComeBeforeEverywhere) {
  plan::Qos qos;
  qos.everywhere = full_tables();
  const PortRef special{NodeGuid{5}, PortNum{1}};
  qos.groups.push_back({{special}, {{{{Vl{0}, 1}}, {}, qos::HighLimit{0}}, qos::Sl2Vl{}}});
  const QosBook book(qos);
  EXPECT_EQ(book.tables(special), &qos.groups[0].tables);
  EXPECT_EQ(book.tables({NodeGuid{5}, PortNum{2}}), &*qos.everywhere);
  EXPECT_TRUE(book.has_sl2vl());
}

TEST(QosBook, PortsThatNothingIsSaidOfAreLeftAlone) {
  plan::Qos qos;
  qos.groups.push_back({{{NodeGuid{5}, PortNum{1}}}, full_tables()});
  const QosBook book(qos);
  EXPECT_EQ(book.tables({NodeGuid{6}, PortNum{1}}), nullptr);
  EXPECT_FALSE(book.has_sl2vl());
  EXPECT_TRUE(QosBook().empty());
}

TEST(QosBlocks, HoldAllEntriesOfAFullTable) {
  const auto tables = full_tables();
  const auto first = block_of(tables.arbitration, ArbBlock::HighFirst);
  const auto second = block_of(tables.arbitration, ArbBlock::HighSecond);
  for (unsigned i = 0; i < 32; ++i) {
    EXPECT_EQ(first[i].weight, i + 1);
    EXPECT_EQ(second[i].weight, i + 33);
    EXPECT_EQ(second[i].vl.raw(), i % 8);
  }
}

TEST(QosBlocks, EndWithEntriesWithoutWeight) {
  const auto tables = full_tables();
  const auto low = block_of(tables.arbitration, ArbBlock::LowFirst);
  EXPECT_EQ(low[0], (qos::ArbEntry{Vl{3}, 9}));
  EXPECT_EQ(low[1], qos::ArbEntry{});
  EXPECT_EQ(block_of(tables.arbitration, ArbBlock::LowSecond), (std::array<qos::ArbEntry, 32>{}));
}

TEST(Options, HaveDefaults) {
  EXPECT_EQ(parse_options("").value().plan, "/var/lib/heddle/plan.json");
  EXPECT_EQ(parse_options("perfmgr:x=1 other").value().socket, "/run/heddle/opensm.sock");
}

TEST(Options, AreReadAmongThoseOfOtherPlugins) {
  const auto options = parse_options("other:a=b heddle-opensm:plan=/tmp/p,socket=@name; third").value();
  EXPECT_EQ(options.plan, "/tmp/p");
  EXPECT_EQ(options.socket, "@name");
}

TEST(Options, AnUnknownKeyIsRefused) {
  const auto options = parse_options("heddle-opensm:plam=/tmp/p");
  ASSERT_FALSE(options);
  EXPECT_THAT(options.error().message, HasSubstr("unknown key \"plam\""));
}

}  // namespace
}  // namespace heddle::plugin
