/// Attributes of performance management as structs (IBA 16.1.3), in the 192 data bytes of a GMP.
/// Data counters count units of 4 bytes.
#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "base/ids.h"
#include "mad/packet.h"

namespace heddle::mad {

using GmpData = std::span<std::uint8_t, gmp_data_size>;
using ConstGmpData = std::span<const std::uint8_t, gmp_data_size>;

/// Bits of the PMA's ClassPortInfo.CapabilityMask and CapabilityMask2.
namespace pm_cap {
inline constexpr std::uint16_t all_port_select = 1U << 8U;
inline constexpr std::uint16_t extended_width = 1U << 9U;
inline constexpr std::uint16_t extended_width_no_ietf = 1U << 10U;
inline constexpr std::uint16_t xmit_wait = 1U << 12U;
inline constexpr std::uint32_t extended_errors = 1U << 1U;
}  // namespace pm_cap

struct ClassPortInfo {
  std::uint8_t base_version = 1;
  std::uint8_t class_version = 1;
  std::uint16_t capability_mask = 0;
  std::uint32_t capability_mask2 = 0;
  std::uint8_t resp_time_value = 0;
  std::array<std::uint8_t, 16> redirect_gid{};
  Sl redirect_sl;
  Lid redirect_lid;
  std::uint16_t redirect_pkey = 0;
  std::uint32_t redirect_qp = 0;
  std::uint32_t redirect_qkey = 0;
};

/// 32-bit data and packet counters, error counters of 16, 8 and 4 bits; all of them stick at their largest
/// value.
struct PortCounters {
  PortNum port_select;
  std::uint16_t counter_select = 0;
  std::uint8_t counter_select2 = 0;  ///< bit 0: XmitWait
  std::uint16_t symbol_errors = 0;
  std::uint8_t link_recovers = 0;
  std::uint8_t link_downed = 0;
  std::uint16_t rcv_errors = 0;
  std::uint16_t rcv_remote_physical_errors = 0;
  std::uint16_t rcv_switch_relay_errors = 0;
  std::uint16_t xmit_discards = 0;
  std::uint8_t xmit_constraint_errors = 0;
  std::uint8_t rcv_constraint_errors = 0;
  std::uint8_t local_link_integrity_errors = 0;      ///< 4 bits
  std::uint8_t excessive_buffer_overrun_errors = 0;  ///< 4 bits
  std::uint16_t qp1_dropped = 0;
  std::uint16_t vl15_dropped = 0;
  std::uint32_t xmit_data = 0;
  std::uint32_t rcv_data = 0;
  std::uint32_t xmit_packets = 0;
  std::uint32_t rcv_packets = 0;
  std::uint32_t xmit_wait = 0;
};

struct PortCountersExtended {
  PortNum port_select;
  std::uint16_t counter_select = 0;
  std::uint32_t counter_select2 = 0;  ///< of the error counters
  std::uint64_t xmit_data = 0;
  std::uint64_t rcv_data = 0;
  std::uint64_t xmit_packets = 0;
  std::uint64_t rcv_packets = 0;
  std::uint64_t unicast_xmit_packets = 0;
  std::uint64_t unicast_rcv_packets = 0;
  std::uint64_t multicast_xmit_packets = 0;
  std::uint64_t multicast_rcv_packets = 0;
  // Only where CapabilityMask2 has pm_cap::extended_errors.
  std::uint64_t symbol_errors = 0;
  std::uint64_t link_recovers = 0;
  std::uint64_t link_downed = 0;
  std::uint64_t rcv_errors = 0;
  std::uint64_t rcv_remote_physical_errors = 0;
  std::uint64_t rcv_switch_relay_errors = 0;
  std::uint64_t xmit_discards = 0;
  std::uint64_t xmit_constraint_errors = 0;
  std::uint64_t rcv_constraint_errors = 0;
  std::uint64_t local_link_integrity_errors = 0;
  std::uint64_t excessive_buffer_overrun_errors = 0;
  std::uint64_t vl15_dropped = 0;
  std::uint64_t xmit_wait = 0;
  std::uint64_t qp1_dropped = 0;
};

/// IBA 16.1.3.2. `tick` is the smallest sampling interval, (tick + 1) x 4 ns x ... as the agent says.
struct PortSamplesControl {
  std::uint8_t op_code = 0;
  PortNum port_select;
  std::uint8_t tick = 0;
  std::uint8_t counter_width = 0;
  std::uint64_t option_mask = 0;
  std::uint64_t vendor_mask = 0;
  std::uint8_t sample_mechanisms = 0;
  std::uint8_t sample_status = 0;  ///< 0 done, 1 started, 2 running
  std::uint32_t sample_start = 0;
  std::uint32_t sample_interval = 0;
  std::uint16_t tag = 0;
  std::array<std::uint16_t, 15> counter_select{};
};
/// Values of PortSamplesControl::counter_select.
namespace samples_select {
inline constexpr std::uint16_t xmit_data = 0x0001;
inline constexpr std::uint16_t rcv_data = 0x0002;
inline constexpr std::uint16_t xmit_packets = 0x0003;
inline constexpr std::uint16_t rcv_packets = 0x0004;
inline constexpr std::uint16_t xmit_wait = 0x0005;
/// PortXmitQueue[n]: 0x4000 + VL (vendor independent option, IBA 16.1.3.4).
inline constexpr std::uint16_t xmit_queue = 0x4000;
}  // namespace samples_select

struct PortSamplesResult {
  std::uint16_t tag = 0;
  std::uint8_t sample_status = 0;
  std::array<std::uint32_t, 15> counters{};
};

/// One 16-bit port select word, then one counter per VL (or SL): PortVlOpData, PortVlXmitWaitCounters and the
/// like. `counter_bits` is 32 for data and packets, 16 for waits and congestion.
struct PerVlCounters {
  PortNum port_select;
  std::uint16_t counter_select = 0;
  std::array<std::uint32_t, 16> value{};
};

struct PortRcvErrorDetails {
  PortNum port_select;
  std::uint16_t counter_select = 0;
  std::uint16_t local_physical = 0, malformed = 0, buffer_overrun = 0, dlid_mapping = 0, vl_mapping = 0,
                looping = 0;
};
struct PortXmitDiscardDetails {
  PortNum port_select;
  std::uint16_t counter_select = 0;
  std::uint16_t inactive = 0, neighbor_mtu = 0, lifetime_limit = 0, hoq_lifetime_limit = 0;
};

/// PortSelect stands at the same place in all attributes that are about a port (IBA 16.1.3.5, 16.1.4.11): so
/// that a request can be made ready once and sent for many ports.
inline void select_port(PortNum port, GmpData data) { data[1] = port.raw(); }

template <class T>
[[nodiscard]] T decode_gmp(ConstGmpData data);
template <class T>
void encode_gmp(const T& value, GmpData data);

/// PerVlCounters of 32-bit (PortVlOpPackets/Data: 2 bytes op + ...) or 16-bit counters, as the attribute has
/// them.
enum class CounterWidth : std::uint8_t { Bits16, Bits32 };
[[nodiscard]] PerVlCounters decode_per_vl(ConstGmpData data, CounterWidth width);
void encode_per_vl(const PerVlCounters& value, CounterWidth width, GmpData data);

}  // namespace heddle::mad
