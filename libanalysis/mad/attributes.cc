#include "mad/attributes.h"

#include <algorithm>

#include "base/network_order.h"
#include "mad/field_io.h"

namespace heddle::mad {
namespace {

// One list per attribute; V is the struct, const for writing.

template <class Io, class V>
void fields(const Io& io, V& x) requires std::is_same_v<std::remove_const_t<V>, NodeInfo> {
  io(IB_NODE_BASE_VERS_F, x.base_version);
  io(IB_NODE_CLASS_VERS_F, x.class_version);
  io(IB_NODE_TYPE_F, x.type);
  io(IB_NODE_NPORTS_F, x.port_count);
  io(IB_NODE_SYSTEM_GUID_F, x.system_image_guid);
  io(IB_NODE_GUID_F, x.node_guid);
  io(IB_NODE_PORT_GUID_F, x.port_guid);
  io(IB_NODE_PARTITION_CAP_F, x.partition_cap);
  io(IB_NODE_DEVID_F, x.device_id);
  io(IB_NODE_REVISION_F, x.revision);
  io(IB_NODE_LOCAL_PORT_F, x.local_port);
  io(IB_NODE_VENDORID_F, x.vendor_id);
}

template <class Io, class V>
void fields(const Io& io, V& x) requires std::is_same_v<std::remove_const_t<V>, SwitchInfo> {
  io(IB_SW_LINEAR_FDB_CAP_F, x.linear_fdb_cap);
  io(IB_SW_RANDOM_FDB_CAP_F, x.random_fdb_cap);
  io(IB_SW_MCAST_FDB_CAP_F, x.multicast_fdb_cap);
  io(IB_SW_LINEAR_FDB_TOP_F, x.linear_fdb_top);
  io(IB_SW_DEF_PORT_F, x.default_port);
  io(IB_SW_DEF_MCAST_PRIM_F, x.default_multicast_primary);
  io(IB_SW_DEF_MCAST_NOT_PRIM_F, x.default_multicast_not_primary);
  io(IB_SW_LIFE_TIME_F, x.life_time);
  io(IB_SW_STATE_CHANGE_F, x.port_state_change);
  io(IB_SW_OPT_SLTOVL_MAPPING_F, x.optimized_sl_to_vl);
  io(IB_SW_LIDS_PER_PORT_F, x.lids_per_port);
  io(IB_SW_PARTITION_ENFORCE_CAP_F, x.partition_enforcement_cap);
  io(IB_SW_ENHANCED_PORT0_F, x.enhanced_port0);
  io(IB_SW_MCAST_FDB_TOP_F, x.multicast_fdb_top);
}

template <class Io, class V>
void fields(const Io& io, V& x) requires std::is_same_v<std::remove_const_t<V>, PortInfo> {
  io(IB_PORT_MKEY_F, x.m_key);
  io(IB_PORT_GID_PREFIX_F, x.gid_prefix);
  io(IB_PORT_LID_F, x.lid);
  io(IB_PORT_SMLID_F, x.master_sm_lid);
  io(IB_PORT_CAPMASK_F, x.capability_mask);
  io(IB_PORT_DIAG_F, x.diag_code);
  io(IB_PORT_MKEY_LEASE_F, x.m_key_lease_period);
  io(IB_PORT_LOCAL_PORT_F, x.local_port);
  io(IB_PORT_LINK_WIDTH_ENABLED_F, x.link_width_enabled);
  io(IB_PORT_LINK_WIDTH_SUPPORTED_F, x.link_width_supported);
  io(IB_PORT_LINK_WIDTH_ACTIVE_F, x.link_width_active);
  io(IB_PORT_LINK_SPEED_SUPPORTED_F, x.link_speed_supported);
  io(IB_PORT_STATE_F, x.state);
  io(IB_PORT_PHYS_STATE_F, x.physical);
  io(IB_PORT_LINK_DOWN_DEF_F, x.link_down_default);
  io(IB_PORT_MKEY_PROT_BITS_F, x.m_key_protect);
  io(IB_PORT_LMC_F, x.lmc);
  io(IB_PORT_LINK_SPEED_ACTIVE_F, x.link_speed_active);
  io(IB_PORT_LINK_SPEED_ENABLED_F, x.link_speed_enabled);
  io(IB_PORT_NEIGHBOR_MTU_F, x.neighbor_mtu);
  io(IB_PORT_SMSL_F, x.master_sm_sl);
  io(IB_PORT_VL_CAP_F, x.vl_cap);
  io(IB_PORT_INIT_TYPE_F, x.init_type);
  io(IB_PORT_VL_HIGH_LIMIT_F, x.vl_high_limit);
  io(IB_PORT_VL_ARBITRATION_HIGH_CAP_F, x.vl_arb_high_cap);
  io(IB_PORT_VL_ARBITRATION_LOW_CAP_F, x.vl_arb_low_cap);
  io(IB_PORT_INIT_TYPE_REPLY_F, x.init_type_reply);
  io(IB_PORT_MTU_CAP_F, x.mtu_cap);
  io(IB_PORT_VL_STALL_COUNT_F, x.vl_stall_count);
  io(IB_PORT_HOQ_LIFE_F, x.hoq_life);
  io(IB_PORT_OPER_VLS_F, x.operational_vls);
  io(IB_PORT_PART_EN_INB_F, x.partition_enforcement_inbound);
  io(IB_PORT_PART_EN_OUTB_F, x.partition_enforcement_outbound);
  io(IB_PORT_FILTER_RAW_INB_F, x.filter_raw_inbound);
  io(IB_PORT_FILTER_RAW_OUTB_F, x.filter_raw_outbound);
  io(IB_PORT_MKEY_VIOL_F, x.m_key_violations);
  io(IB_PORT_PKEY_VIOL_F, x.p_key_violations);
  io(IB_PORT_QKEY_VIOL_F, x.q_key_violations);
  io(IB_PORT_GUID_CAP_F, x.guid_cap);
  io(IB_PORT_CLIENT_REREG_F, x.client_reregister);
  io(IB_PORT_MCAST_PKEY_SUPR_ENAB_F, x.multicast_pkey_trap_suppression);
  io(IB_PORT_SUBN_TIMEOUT_F, x.subnet_timeout);
  io(IB_PORT_RESP_TIME_VAL_F, x.resp_time_value);
  io(IB_PORT_LOCAL_PHYS_ERR_F, x.local_phys_errors);
  io(IB_PORT_OVERRUN_ERR_F, x.overrun_errors);
  io(IB_PORT_MAX_CREDIT_HINT_F, x.max_credit_hint);
  io(IB_PORT_LINK_ROUND_TRIP_F, x.link_round_trip);
  io(IB_PORT_CAPMASK2_F, x.capability_mask2);
  io(IB_PORT_LINK_SPEED_EXT_ACTIVE_F, x.link_speed_ext_active);
  io(IB_PORT_LINK_SPEED_EXT_SUPPORTED_F, x.link_speed_ext_supported);
  io(IB_PORT_LINK_SPEED_EXT_ENABLED_F, x.link_speed_ext_enabled);
}

template <class Io, class V>
void fields(const Io& io, V& x) requires std::is_same_v<std::remove_const_t<V>, MlnxExtPortInfo> {
  io(IB_MLNX_EXT_PORT_STATE_CHG_ENABLE_F, x.state_change_enable);
  io(IB_MLNX_EXT_PORT_LINK_SPEED_SUPPORTED_F, x.link_speed_supported);
  io(IB_MLNX_EXT_PORT_LINK_SPEED_ENABLED_F, x.link_speed_enabled);
  io(IB_MLNX_EXT_PORT_LINK_SPEED_ACTIVE_F, x.link_speed_active);
}

template <class Io, class V>
void fields(const Io& io, V& x) requires std::is_same_v<std::remove_const_t<V>, GuidInfoBlock> {
  io(IB_GI_GUID0_F, x.guids, x.guids.size());
}

template <class Io, class V>
void fields(const Io& io, V& x) requires std::is_same_v<std::remove_const_t<V>, SmInfo> {
  io(IB_SMINFO_GUID_F, x.guid);
  io(IB_SMINFO_KEY_F, x.sm_key);
  io(IB_SMINFO_ACT_F, x.activity);
  io(IB_SMINFO_PRIO_F, x.priority);
  io(IB_SMINFO_STATE_F, x.state);
}

template <class Io, class V>
void fields(const Io& io, V& x) requires std::is_same_v<std::remove_const_t<V>, Notice> {
  io(IB_NOTICE_IS_GENERIC_F, x.generic);
  io(IB_NOTICE_TYPE_F, x.type);
  io(IB_NOTICE_PRODUCER_F, x.producer);
  io(IB_NOTICE_TRAP_NUMBER_F, x.trap);
  io(IB_NOTICE_ISSUER_LID_F, x.issuer);
  io(IB_NOTICE_TOGGLE_F, x.toggle);
  io(IB_NOTICE_COUNT_F, x.count);
}

constexpr std::size_t notice_details_offset = 10;

}  // namespace

template <class T>
T decode(ConstSmpData data) {
  T value;
  fields(FieldReader{data.data()}, value);
  return value;
}

template <class T>
void encode(const T& value, SmpData data) {
  std::fill(data.begin(), data.end(), std::uint8_t{0});
  fields(FieldWriter{data.data()}, value);
}

template NodeInfo decode<NodeInfo>(ConstSmpData);
template void encode<NodeInfo>(const NodeInfo&, SmpData);
template SwitchInfo decode<SwitchInfo>(ConstSmpData);
template void encode<SwitchInfo>(const SwitchInfo&, SmpData);
template MlnxExtPortInfo decode<MlnxExtPortInfo>(ConstSmpData);
template void encode<MlnxExtPortInfo>(const MlnxExtPortInfo&, SmpData);
template GuidInfoBlock decode<GuidInfoBlock>(ConstSmpData);
template void encode<GuidInfoBlock>(const GuidInfoBlock&, SmpData);
template SmInfo decode<SmInfo>(ConstSmpData);
template void encode<SmInfo>(const SmInfo&, SmpData);

template <>
NodeDescription decode(ConstSmpData data) {
  const auto end = std::find(data.begin(), data.end(), std::uint8_t{0});
  return {std::string(data.begin(), end)};
}
template <>
void encode(const NodeDescription& value, SmpData data) {
  std::fill(data.begin(), data.end(), std::uint8_t{0});
  std::copy_n(value.text.begin(), std::min(value.text.size(), data.size()), data.begin());
}

/// LinkSpeedExt*2 stand in the byte before LinkRoundTripLatency, which libibmad's table of Debian 12 leaves
/// out.
constexpr std::size_t speed_ext2_offset = 56;

template <>
PortInfo decode(ConstSmpData data) {
  PortInfo info;
  fields(FieldReader{data.data()}, info);
  const unsigned speeds = data[speed_ext2_offset];
  info.link_speed_ext2_active = static_cast<std::uint8_t>((speeds >> 5U) & 3U);
  info.link_speed_ext2_supported = static_cast<std::uint8_t>((speeds >> 3U) & 3U);
  info.link_speed_ext2_enabled = static_cast<std::uint8_t>(speeds & 7U);
  return info;
}
template <>
void encode(const PortInfo& value, SmpData data) {
  std::fill(data.begin(), data.end(), std::uint8_t{0});
  fields(FieldWriter{data.data()}, value);
  data[speed_ext2_offset] = static_cast<std::uint8_t>(((value.link_speed_ext2_active & 3U) << 5U) |
                                                      ((value.link_speed_ext2_supported & 3U) << 3U) |
                                                      (value.link_speed_ext2_enabled & 7U));
}

template <>
Notice decode(ConstSmpData data) {
  Notice notice;
  fields(FieldReader{data.data()}, notice);
  std::copy_n(data.begin() + notice_details_offset, notice.details.size(), notice.details.begin());
  return notice;
}
template <>
void encode(const Notice& value, SmpData data) {
  std::fill(data.begin(), data.end(), std::uint8_t{0});
  fields(FieldWriter{data.data()}, value);
  std::copy(value.details.begin(), value.details.end(), data.begin() + notice_details_offset);
}

namespace {

std::size_t lid_in_details(std::uint16_t trap) {
  constexpr std::uint16_t link_state_changed = 128;
  return trap == link_state_changed ? 0 : 2;
}

}  // namespace

Lid Notice::data_lid() const { return Lid{from_network<std::uint16_t>(&details[lid_in_details(trap)])}; }
void Notice::set_data_lid(Lid lid) { to_network<std::uint16_t>(lid.raw(), &details[lid_in_details(trap)]); }

template <>
LftBlock decode(ConstSmpData data) {
  LftBlock block;
  std::transform(data.begin(), data.end(), block.ports.begin(),
                 [](std::uint8_t port) { return PortNum{port}; });
  return block;
}
template <>
void encode(const LftBlock& value, SmpData data) {
  std::transform(value.ports.begin(), value.ports.end(), data.begin(),
                 [](PortNum port) { return port.raw(); });
}

template <>
MftBlock decode(ConstSmpData data) {
  MftBlock block;
  for (std::size_t i = 0; i < block.masks.size(); ++i)
    block.masks[i] = from_network<std::uint16_t>(&data[2 * i]);
  return block;
}
template <>
void encode(const MftBlock& value, SmpData data) {
  for (std::size_t i = 0; i < value.masks.size(); ++i)
    to_network<std::uint16_t>(value.masks[i], &data[2 * i]);
}

template <>
PKeyBlock decode(ConstSmpData data) {
  PKeyBlock block;
  for (std::size_t i = 0; i < block.keys.size(); ++i)
    block.keys[i] = from_network<std::uint16_t>(&data[2 * i]);
  return block;
}
template <>
void encode(const PKeyBlock& value, SmpData data) {
  for (std::size_t i = 0; i < value.keys.size(); ++i) to_network<std::uint16_t>(value.keys[i], &data[2 * i]);
}

template <>
SlToVlTable decode(ConstSmpData data) {
  SlToVlTable table;
  for (std::size_t i = 0; i < table.vl.size(); i += 2) {
    table.vl[i] = Vl{static_cast<std::uint8_t>(data[i / 2] >> 4U)};
    table.vl[i + 1] = Vl{static_cast<std::uint8_t>(data[i / 2] & 0xfU)};
  }
  return table;
}
template <>
void encode(const SlToVlTable& value, SmpData data) {
  std::fill(data.begin(), data.end(), std::uint8_t{0});
  for (std::size_t i = 0; i < value.vl.size(); i += 2) {
    data[i / 2] =
        static_cast<std::uint8_t>(((value.vl[i].raw() & 0xfU) << 4U) | (value.vl[i + 1].raw() & 0xfU));
  }
}

template <>
VlArbBlock decode(ConstSmpData data) {
  VlArbBlock block;
  for (std::size_t i = 0; i < block.entries.size(); ++i) {
    block.entries[i] = {Vl{static_cast<std::uint8_t>(data[2 * i] & 0xfU)}, data[2 * i + 1]};
  }
  return block;
}
template <>
void encode(const VlArbBlock& value, SmpData data) {
  for (std::size_t i = 0; i < value.entries.size(); ++i) {
    data[2 * i] = value.entries[i].vl.raw() & 0xfU;
    data[2 * i + 1] = value.entries[i].weight;
  }
}

}  // namespace heddle::mad
