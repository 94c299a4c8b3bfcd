/// Attributes of subnet management as structs (IBA 14.2.5). `decode<T>(data)` and `encode(value, data)`
/// translate between them and the 64 bytes of an SMP; reserved bits are written as 0.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>

#include "base/ids.h"
#include "fabric/fabric.h"
#include "mad/packet.h"

namespace heddle::mad {

using SmpData = std::span<std::uint8_t, smp_data_size>;
using ConstSmpData = std::span<const std::uint8_t, smp_data_size>;

struct NodeInfo {
  std::uint8_t base_version = 1;
  std::uint8_t class_version = 1;
  NodeType type = NodeType::ChannelAdapter;
  std::uint8_t port_count = 0;
  std::uint64_t system_image_guid = 0;
  NodeGuid node_guid;
  PortGuid port_guid;  ///< of the port that the SMP came in by; of port 0 for a switch
  std::uint16_t partition_cap = 0;
  std::uint16_t device_id = 0;
  std::uint32_t revision = 0;
  PortNum local_port;  ///< that the SMP came in by
  std::uint32_t vendor_id = 0;
};

/// The raw bytes, up to the first NUL.
struct NodeDescription {
  std::string text;
};

struct SwitchInfo {
  std::uint16_t linear_fdb_cap = 0;
  std::uint16_t random_fdb_cap = 0;
  std::uint16_t multicast_fdb_cap = 0;
  std::uint16_t linear_fdb_top = 0;
  std::uint8_t default_port = 0;
  std::uint8_t default_multicast_primary = 0;
  std::uint8_t default_multicast_not_primary = 0;
  std::uint8_t life_time = 0;
  bool port_state_change = false;  ///< Set with 1 clears it
  std::uint8_t optimized_sl_to_vl = 0;
  std::uint16_t lids_per_port = 0;
  std::uint16_t partition_enforcement_cap = 0;
  bool enhanced_port0 = false;
  std::uint16_t multicast_fdb_top = 0;
};

/// Bits of PortInfo.CapabilityMask (IBA 14.2.5.6).
namespace port_cap {
inline constexpr std::uint32_t is_sm = 1U << 1U;
inline constexpr std::uint32_t notice = 1U << 2U;
inline constexpr std::uint32_t trap = 1U << 3U;
inline constexpr std::uint32_t automatic_migration = 1U << 5U;
inline constexpr std::uint32_t sl_mapping = 1U << 6U;
inline constexpr std::uint32_t extended_speeds = 1U << 14U;
inline constexpr std::uint32_t capability_mask2 = 1U << 15U;
}  // namespace port_cap
/// Bits of PortInfo.CapabilityMask2.
namespace port_cap2 {
inline constexpr std::uint16_t extended_speeds2 = 1U << 11U;
}  // namespace port_cap2

/// Bit 31 of the modifier of PortInfo: whoever asks or sets knows of extended speeds (IBA 14.2.5.6). Some
/// firmware shows them to nobody else, and some does not take the bit.
inline constexpr std::uint32_t knows_extended_speeds = 1U << 31U;

/// LinkWidth* are bit masks: 1 = 1x, 2 = 4x, 4 = 8x, 8 = 12x, 16 = 2x. LinkSpeed*: 1 SDR, 2 DDR, 4 QDR;
/// LinkSpeedExt*: 1 FDR, 2 EDR, 4 HDR, 8 NDR; LinkSpeedExt*2: 1 XDR. MTUs: 1..5 = 256..4096. VLs: 1..5 = VL0,
/// 0-1, 0-3, 0-7, 0-14.
struct PortInfo {
  std::uint64_t m_key = 0;
  std::uint64_t gid_prefix = 0;
  Lid lid;
  Lid master_sm_lid;
  std::uint32_t capability_mask = 0;
  std::uint16_t diag_code = 0;
  std::uint16_t m_key_lease_period = 0;
  PortNum local_port;
  std::uint8_t link_width_enabled = 0;
  std::uint8_t link_width_supported = 0;
  std::uint8_t link_width_active = 0;
  std::uint8_t link_speed_supported = 0;
  PortState state = PortState::NoChange;
  PhysState physical = PhysState::NoChange;
  std::uint8_t link_down_default = 0;
  std::uint8_t m_key_protect = 0;
  std::uint8_t lmc = 0;
  std::uint8_t link_speed_active = 0;
  std::uint8_t link_speed_enabled = 0;
  std::uint8_t neighbor_mtu = 0;
  Sl master_sm_sl;
  std::uint8_t vl_cap = 0;
  std::uint8_t init_type = 0;
  std::uint8_t vl_high_limit = 0;
  std::uint8_t vl_arb_high_cap = 0;
  std::uint8_t vl_arb_low_cap = 0;
  std::uint8_t init_type_reply = 0;
  std::uint8_t mtu_cap = 0;
  std::uint8_t vl_stall_count = 0;
  std::uint8_t hoq_life = 0;
  std::uint8_t operational_vls = 0;
  std::uint8_t partition_enforcement_inbound = 0;
  std::uint8_t partition_enforcement_outbound = 0;
  std::uint8_t filter_raw_inbound = 0;
  std::uint8_t filter_raw_outbound = 0;
  std::uint16_t m_key_violations = 0;
  std::uint16_t p_key_violations = 0;
  std::uint16_t q_key_violations = 0;
  std::uint8_t guid_cap = 0;
  std::uint8_t client_reregister = 0;
  std::uint8_t multicast_pkey_trap_suppression = 0;
  std::uint8_t subnet_timeout = 0;
  std::uint8_t resp_time_value = 0;
  std::uint8_t local_phys_errors = 0;
  std::uint8_t overrun_errors = 0;
  std::uint16_t max_credit_hint = 0;
  std::uint32_t link_round_trip = 0;
  std::uint16_t capability_mask2 = 0;
  std::uint8_t link_speed_ext_active = 0;
  std::uint8_t link_speed_ext_supported = 0;
  std::uint8_t link_speed_ext_enabled = 0;
  std::uint8_t link_speed_ext2_active = 0;     ///< 2 bits
  std::uint8_t link_speed_ext2_supported = 0;  ///< 2 bits
  std::uint8_t link_speed_ext2_enabled = 0;    ///< 3 bits
};

/// Mellanox' ExtendedPortInfo, where FDR10 shows: 1 in the speed masks.
struct MlnxExtPortInfo {
  std::uint8_t state_change_enable = 0;
  std::uint8_t link_speed_supported = 0;
  std::uint8_t link_speed_enabled = 0;
  std::uint8_t link_speed_active = 0;
};

/// 64 entries, one byte a LID; the attribute modifier is the block number.
struct LftBlock {
  std::array<PortNum, 64> ports{};
};
/// 32 entries, 16 ports of a multicast LID each; modifier: block in bits 0-8, position (ports / 16) in bits
/// 28-31.
struct MftBlock {
  std::array<std::uint16_t, 32> masks{};
};
struct PKeyBlock {
  std::array<std::uint16_t, 32> keys{};
};
/// VL for each SL; modifier of switches: input port in bits 8-15, output port in bits 0-7.
struct SlToVlTable {
  std::array<Vl, 16> vl{};
};
/// Modifier: block (1, 2 low; 3, 4 high) in bits 16-31, port in bits 0-15.
struct VlArbBlock {
  struct Entry {
    Vl vl;
    std::uint8_t weight = 0;
  };
  std::array<Entry, 32> entries{};
};
struct GuidInfoBlock {
  std::array<std::uint64_t, 8> guids{};
};
struct SmInfo {
  enum class State : std::uint8_t { NotActive = 0, Discovering = 1, Standby = 2, Master = 3 };
  PortGuid guid;
  std::uint64_t sm_key = 0;
  std::uint32_t activity = 0;
  std::uint8_t priority = 0;
  State state = State::NotActive;
};
/// A generic notice (IBA 13.4.8.2). `details` by trap: IBA 14.2.5.1.
struct Notice {
  bool generic = true;
  std::uint8_t type = 0;       ///< 0 fatal, 1 urgent, 2 security, 3 subnet management, 4 informational
  std::uint32_t producer = 0;  ///< 1 channel adapter, 2 switch, 3 router, 4 class manager
  std::uint16_t trap = 0;
  Lid issuer;
  bool toggle = false;
  std::uint16_t count = 0;
  std::array<std::uint8_t, 54> details{};

  /// LIDADDR: the first 16 bits of the details of trap 128, the second of the others that have one.
  [[nodiscard]] Lid data_lid() const;
  void set_data_lid(Lid lid);
};

/// The codec. Defined for each struct above.
template <class T>
[[nodiscard]] T decode(ConstSmpData data);
template <class T>
void encode(const T& value, SmpData data);

/// Width and speed of a PortInfo; `ext` (where the device has it) tells FDR10 from QDR. An extended speed
/// speaks for itself: CapabilityMask says nothing at a switch's ports but port 0.
[[nodiscard]] LinkWidth active_width(const PortInfo& info);
[[nodiscard]] LinkSpeed active_speed(const PortInfo& info, const MlnxExtPortInfo* ext = nullptr);
/// Whether a port that can have extended speeds keeps them from whoever asked: then the QDR that it shows may
/// be any of them. `capability_mask` is that of the port, or of port 0 of its switch.
[[nodiscard]] bool hides_speed(const PortInfo& info, std::uint32_t capability_mask);
/// Fills width and speed, active, enabled and supported, so that active_* give these values back. FDR10 is
/// left to the ExtendedPortInfo: PortInfo says QDR.
void set_width(LinkWidth width, PortInfo& info);
void set_speed(LinkSpeed speed, PortInfo& info);
/// Number of data VLs of VLCap / OperationalVLs: 1, 2, 4, 8 or 15; 0 for a value that means nothing.
[[nodiscard]] int data_vls(std::uint8_t code);

}  // namespace heddle::mad
