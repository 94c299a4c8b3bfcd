#include "mad/counters.h"

#include <algorithm>

#include "mad/field_io.h"

namespace heddle::mad {
namespace {

template <class Io, class V>
void fields(const Io& io, V& x) requires std::is_same_v<std::remove_const_t<V>, ClassPortInfo> {
  io(IB_CPI_BASEVER_F, x.base_version);
  io(IB_CPI_CLASSVER_F, x.class_version);
  io(IB_CPI_CAPMASK_F, x.capability_mask);
  io(IB_CPI_CAPMASK2_F, x.capability_mask2);
  io(IB_CPI_RESP_TIME_VALUE_F, x.resp_time_value);
  io(IB_CPI_REDIRECT_SL_F, x.redirect_sl);
  io(IB_CPI_REDIRECT_LID_F, x.redirect_lid);
  io(IB_CPI_REDIRECT_PKEY_F, x.redirect_pkey);
  io(IB_CPI_REDIRECT_QP_F, x.redirect_qp);
  io(IB_CPI_REDIRECT_QKEY_F, x.redirect_qkey);
}

template <class Io, class V>
void fields(const Io& io, V& x) requires std::is_same_v<std::remove_const_t<V>, PortCounters> {
  io(IB_PC_PORT_SELECT_F, x.port_select);
  io(IB_PC_COUNTER_SELECT_F, x.counter_select);
  io(IB_PC_ERR_SYM_F, x.symbol_errors);
  io(IB_PC_LINK_RECOVERS_F, x.link_recovers);
  io(IB_PC_LINK_DOWNED_F, x.link_downed);
  io(IB_PC_ERR_RCV_F, x.rcv_errors);
  io(IB_PC_ERR_PHYSRCV_F, x.rcv_remote_physical_errors);
  io(IB_PC_ERR_SWITCH_REL_F, x.rcv_switch_relay_errors);
  io(IB_PC_XMT_DISCARDS_F, x.xmit_discards);
  io(IB_PC_ERR_XMTCONSTR_F, x.xmit_constraint_errors);
  io(IB_PC_ERR_RCVCONSTR_F, x.rcv_constraint_errors);
  io(IB_PC_COUNTER_SELECT2_F, x.counter_select2);
  io(IB_PC_ERR_LOCALINTEG_F, x.local_link_integrity_errors);
  io(IB_PC_ERR_EXCESS_OVR_F, x.excessive_buffer_overrun_errors);
  io(IB_PC_QP1_DROP_F, x.qp1_dropped);
  io(IB_PC_VL15_DROPPED_F, x.vl15_dropped);
  io(IB_PC_XMT_BYTES_F, x.xmit_data);
  io(IB_PC_RCV_BYTES_F, x.rcv_data);
  io(IB_PC_XMT_PKTS_F, x.xmit_packets);
  io(IB_PC_RCV_PKTS_F, x.rcv_packets);
  io(IB_PC_XMT_WAIT_F, x.xmit_wait);
}

template <class Io, class V>
void fields(const Io& io, V& x) requires std::is_same_v<std::remove_const_t<V>, PortCountersExtended> {
  io(IB_PC_EXT_PORT_SELECT_F, x.port_select);
  io(IB_PC_EXT_COUNTER_SELECT_F, x.counter_select);
  io(IB_PC_EXT_COUNTER_SELECT2_F, x.counter_select2);
  io(IB_PC_EXT_XMT_BYTES_F, x.xmit_data);
  io(IB_PC_EXT_RCV_BYTES_F, x.rcv_data);
  io(IB_PC_EXT_XMT_PKTS_F, x.xmit_packets);
  io(IB_PC_EXT_RCV_PKTS_F, x.rcv_packets);
  io(IB_PC_EXT_XMT_UPKTS_F, x.unicast_xmit_packets);
  io(IB_PC_EXT_RCV_UPKTS_F, x.unicast_rcv_packets);
  io(IB_PC_EXT_XMT_MPKTS_F, x.multicast_xmit_packets);
  io(IB_PC_EXT_RCV_MPKTS_F, x.multicast_rcv_packets);
  io(IB_PC_EXT_ERR_SYM_F, x.symbol_errors);
  io(IB_PC_EXT_LINK_RECOVERS_F, x.link_recovers);
  io(IB_PC_EXT_LINK_DOWNED_F, x.link_downed);
  io(IB_PC_EXT_ERR_RCV_F, x.rcv_errors);
  io(IB_PC_EXT_ERR_PHYSRCV_F, x.rcv_remote_physical_errors);
  io(IB_PC_EXT_ERR_SWITCH_REL_F, x.rcv_switch_relay_errors);
  io(IB_PC_EXT_XMT_DISCARDS_F, x.xmit_discards);
  io(IB_PC_EXT_ERR_XMTCONSTR_F, x.xmit_constraint_errors);
  io(IB_PC_EXT_ERR_RCVCONSTR_F, x.rcv_constraint_errors);
  io(IB_PC_EXT_ERR_LOCALINTEG_F, x.local_link_integrity_errors);
  io(IB_PC_EXT_ERR_EXCESS_OVR_F, x.excessive_buffer_overrun_errors);
  io(IB_PC_EXT_VL15_DROPPED_F, x.vl15_dropped);
  io(IB_PC_EXT_XMT_WAIT_F, x.xmit_wait);
  io(IB_PC_EXT_QP1_DROP_F, x.qp1_dropped);
}

template <class Io, class V>
void fields(const Io& io, V& x) requires std::is_same_v<std::remove_const_t<V>, PortSamplesControl> {
  io(IB_PSC_OPCODE_F, x.op_code);
  io(IB_PSC_PORT_SELECT_F, x.port_select);
  io(IB_PSC_TICK_F, x.tick);
  io(IB_PSC_COUNTER_WIDTH_F, x.counter_width);
  io(IB_PSC_OPTION_MASK_F, x.option_mask);
  io(IB_PSC_VENDOR_MASK_F, x.vendor_mask);
  io(IB_PSC_SAMPLE_MECHS_F, x.sample_mechanisms);
  io(IB_PSC_SAMPLE_STATUS_F, x.sample_status);
  io(IB_PSC_SAMPLE_START_F, x.sample_start);
  io(IB_PSC_SAMPLE_INTVL_F, x.sample_interval);
  io(IB_PSC_TAG_F, x.tag);
  io(IB_PSC_COUNTER_SEL0_F, x.counter_select, x.counter_select.size());
}

template <class Io, class V>
void fields(const Io& io, V& x) requires std::is_same_v<std::remove_const_t<V>, PortSamplesResult> {
  io(IB_PSR_TAG_F, x.tag);
  io(IB_PSR_SAMPLE_STATUS_F, x.sample_status);
  io(IB_PSR_COUNTER0_F, x.counters, x.counters.size());
}

template <class Io, class V>
void fields(const Io& io, V& x) requires std::is_same_v<std::remove_const_t<V>, PortRcvErrorDetails> {
  io(IB_PC_EXT_PORT_SELECT_F, x.port_select);
  io(IB_PC_EXT_COUNTER_SELECT_F, x.counter_select);
  io(IB_PC_RCV_LOCAL_PHY_ERR_F, x.local_physical);
  io(IB_PC_RCV_MALFORMED_PKT_ERR_F, x.malformed);
  io(IB_PC_RCV_BUF_OVR_ERR_F, x.buffer_overrun);
  io(IB_PC_RCV_DLID_MAP_ERR_F, x.dlid_mapping);
  io(IB_PC_RCV_VL_MAP_ERR_F, x.vl_mapping);
  io(IB_PC_RCV_LOOPING_ERR_F, x.looping);
}

template <class Io, class V>
void fields(const Io& io, V& x) requires std::is_same_v<std::remove_const_t<V>, PortXmitDiscardDetails> {
  io(IB_PC_EXT_PORT_SELECT_F, x.port_select);
  io(IB_PC_EXT_COUNTER_SELECT_F, x.counter_select);
  io(IB_PC_XMT_INACT_DISC_F, x.inactive);
  io(IB_PC_XMT_NEIGH_MTU_DISC_F, x.neighbor_mtu);
  io(IB_PC_XMT_SW_LIFE_DISC_F, x.lifetime_limit);
  io(IB_PC_XMT_SW_HOL_DISC_F, x.hoq_lifetime_limit);
}

template <class Io, class V>
void per_vl_fields(const Io& io, V& x, CounterWidth width) {
  io(IB_PC_EXT_PORT_SELECT_F, x.port_select);
  io(IB_PC_EXT_COUNTER_SELECT_F, x.counter_select);
  io(width == CounterWidth::Bits32 ? IB_PC_PORT_VL_OP_DATA0_F : IB_PC_PORT_VL_XMIT_WAIT0_F, x.value,
     x.value.size());
}

}  // namespace

template <class T>
T decode_gmp(ConstGmpData data) {
  T value;
  fields(FieldReader{data.data()}, value);
  return value;
}

template <class T>
void encode_gmp(const T& value, GmpData data) {
  std::fill(data.begin(), data.end(), std::uint8_t{0});
  fields(FieldWriter{data.data()}, value);
}

template ClassPortInfo decode_gmp<ClassPortInfo>(ConstGmpData);
template void encode_gmp<ClassPortInfo>(const ClassPortInfo&, GmpData);
template PortCounters decode_gmp<PortCounters>(ConstGmpData);
template void encode_gmp<PortCounters>(const PortCounters&, GmpData);
template PortCountersExtended decode_gmp<PortCountersExtended>(ConstGmpData);
template void encode_gmp<PortCountersExtended>(const PortCountersExtended&, GmpData);
template PortSamplesControl decode_gmp<PortSamplesControl>(ConstGmpData);
template void encode_gmp<PortSamplesControl>(const PortSamplesControl&, GmpData);
template PortSamplesResult decode_gmp<PortSamplesResult>(ConstGmpData);
template void encode_gmp<PortSamplesResult>(const PortSamplesResult&, GmpData);
template PortRcvErrorDetails decode_gmp<PortRcvErrorDetails>(ConstGmpData);
template void encode_gmp<PortRcvErrorDetails>(const PortRcvErrorDetails&, GmpData);
template PortXmitDiscardDetails decode_gmp<PortXmitDiscardDetails>(ConstGmpData);
template void encode_gmp<PortXmitDiscardDetails>(const PortXmitDiscardDetails&, GmpData);

PerVlCounters decode_per_vl(ConstGmpData data, CounterWidth width) {
  PerVlCounters value;
  per_vl_fields(FieldReader{data.data()}, value, width);
  return value;
}

void encode_per_vl(const PerVlCounters& value, CounterWidth width, GmpData data) {
  std::fill(data.begin(), data.end(), std::uint8_t{0});
  per_vl_fields(FieldWriter{data.data()}, value, width);
}

}  // namespace heddle::mad
