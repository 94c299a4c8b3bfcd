// Both layouts of PortExtendedSpeedsCounters, byte for byte where libibmad's table and IBA 16.1.4.12 put
// them.
#include "mad/phy_counters.h"

#include <gtest/gtest.h>

#include <array>

namespace heddle::mad {
namespace {

std::uint32_t word(ConstGmpData data, std::size_t bit) {
  const std::size_t at = bit / 8;
  return static_cast<std::uint32_t>(data[at]) << 24U | static_cast<std::uint32_t>(data[at + 1]) << 16U |
         static_cast<std::uint32_t>(data[at + 2]) << 8U | data[at + 3];
}

TEST(PhyCounters, LaneByLane) {
  std::array<std::uint8_t, gmp_data_size> data{};
  LaneSpeedsCounters value;
  value.port_select = PortNum{7};
  value.sync_header_errors = 0x1234;
  value.unknown_blocks = 0x5678;
  for (std::size_t lane = 0; lane < most_lanes; ++lane) {
    value.error_detections[lane] = static_cast<std::uint16_t>(100 + lane);
    value.corrected_blocks[lane] = static_cast<std::uint32_t>(100'000 + lane);
    value.uncorrectable_blocks[lane] = static_cast<std::uint32_t>(200'000 + lane);
  }
  encode_gmp(value, GmpData{data});
  EXPECT_EQ(data[1], 7);
  EXPECT_EQ(word(data, 128), 0x12345678U);
  EXPECT_EQ(word(data, 352), 100'000U);
  EXPECT_EQ(word(data, 704), 100'011U);
  EXPECT_EQ(word(data, 1088), 200'011U);
  const auto back = decode_gmp<LaneSpeedsCounters>(ConstGmpData{data});
  EXPECT_EQ(back.error_detections, value.error_detections);
  EXPECT_EQ(back.corrected_blocks, value.corrected_blocks);
  EXPECT_EQ(back.uncorrectable_blocks, value.uncorrectable_blocks);
  EXPECT_EQ(fec_layout(pm_cap::rs_fec, LinkSpeed::Edr, ConstGmpData{data}), FecLayout::Lanes);
}

TEST(PhyCounters, WithRsFec) {
  std::array<std::uint8_t, gmp_data_size> data{};
  RsFecSpeedsCounters value;
  value.port_select = PortNum{7};
  value.corrected_symbols[11] = 5;
  value.port_corrected_blocks = 11;
  value.port_uncorrectable_blocks = 12;
  value.port_corrected_symbols = 13;
  encode_gmp(value, GmpData{data});
  EXPECT_EQ(word(data, 704), 5U);
  EXPECT_EQ(word(data, 1120), 11U);
  EXPECT_EQ(word(data, 1152), 12U);
  EXPECT_EQ(word(data, 1184), 13U);
  const auto back = decode_gmp<RsFecSpeedsCounters>(ConstGmpData{data});
  EXPECT_EQ(back.port_uncorrectable_blocks, 12U);
  EXPECT_EQ(fec_layout(pm_cap::rs_fec, LinkSpeed::Edr, ConstGmpData{data}), FecLayout::RsFec);
  EXPECT_EQ(fec_layout(0, LinkSpeed::Edr, ConstGmpData{data}), FecLayout::Lanes)
      << "not by this agent's word";
  data = {};
  EXPECT_EQ(fec_layout(pm_cap::rs_fec, LinkSpeed::Hdr, ConstGmpData{data}), FecLayout::RsFec);
  EXPECT_EQ(fec_layout(pm_cap::rs_fec, LinkSpeed::Edr, ConstGmpData{data}), FecLayout::Lanes);
}

}  // namespace
}  // namespace heddle::mad
