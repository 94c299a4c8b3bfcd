#include "mad/phy_counters.h"

#include <algorithm>

#include "mad/field_io.h"

namespace heddle::mad {
namespace {

template <class Io, class V>
void lane_fields(const Io& io, V& x) {
  io(IB_PESC_PORT_SELECT_F, x.port_select);
  io(IB_PESC_COUNTER_SELECT_F, x.counter_select);
  io(IB_PESC_SYNC_HDR_ERR_CTR_F, x.sync_header_errors);
  io(IB_PESC_UNK_BLOCK_CTR_F, x.unknown_blocks);
  io(IB_PESC_ERR_DET_CTR_LANE0_F, x.error_detections, most_lanes);
  io(IB_PESC_FEC_CORR_BLOCK_CTR_LANE0_F, x.corrected_blocks, most_lanes);
  io(IB_PESC_FEC_UNCORR_BLOCK_CTR_LANE0_F, x.uncorrectable_blocks, most_lanes);
}

template <class Io, class V>
void rs_fec_fields(const Io& io, V& x) {
  io(IB_PESC_RSFEC_PORT_SELECT_F, x.port_select);
  io(IB_PESC_RSFEC_COUNTER_SELECT_F, x.counter_select);
  io(IB_PESC_RSFEC_SYNC_HDR_ERR_CTR_F, x.sync_header_errors);
  io(IB_PESC_RSFEC_UNK_BLOCK_CTR_F, x.unknown_blocks);
  io(IB_PESC_RSFEC_FEC_CORR_SYMBOL_CTR_LANE0_F, x.corrected_symbols, most_lanes);
  io(IB_PESC_PORT_FEC_CORR_BLOCK_CTR_F, x.port_corrected_blocks);
  io(IB_PESC_PORT_FEC_UNCORR_BLOCK_CTR_F, x.port_uncorrectable_blocks);
  io(IB_PESC_PORT_FEC_CORR_SYMBOL_CTR_F, x.port_corrected_symbols);
}

}  // namespace

template <>
LaneSpeedsCounters decode_gmp<LaneSpeedsCounters>(ConstGmpData data) {
  LaneSpeedsCounters value;
  lane_fields(FieldReader{data.data()}, value);
  return value;
}

template <>
void encode_gmp<LaneSpeedsCounters>(const LaneSpeedsCounters& value, GmpData data) {
  std::fill(data.begin(), data.end(), std::uint8_t{0});
  lane_fields(FieldWriter{data.data()}, value);
}

template <>
RsFecSpeedsCounters decode_gmp<RsFecSpeedsCounters>(ConstGmpData data) {
  RsFecSpeedsCounters value;
  rs_fec_fields(FieldReader{data.data()}, value);
  return value;
}

template <>
void encode_gmp<RsFecSpeedsCounters>(const RsFecSpeedsCounters& value, GmpData data) {
  std::fill(data.begin(), data.end(), std::uint8_t{0});
  rs_fec_fields(FieldWriter{data.data()}, value);
}

FecLayout fec_layout(std::uint16_t pma_capability_mask, LinkSpeed speed, ConstGmpData data) {
  if ((pma_capability_mask & pm_cap::rs_fec) == 0) return FecLayout::Lanes;
  if (speed >= LinkSpeed::Hdr) return FecLayout::RsFec;
  const auto totals = decode_gmp<RsFecSpeedsCounters>(data);
  const bool counted = totals.port_corrected_blocks != 0 || totals.port_uncorrectable_blocks != 0 ||
                       totals.port_corrected_symbols != 0;
  return counted ? FecLayout::RsFec : FecLayout::Lanes;
}

}  // namespace heddle::mad
