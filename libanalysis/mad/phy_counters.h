/// PortExtendedSpeedsCounters (IBA 16.1.4.12): what the physical layer of an FDR or later port corrected, and
/// could not. The attribute has two layouts in the same bytes: lane by lane, and with RS-FEC, whose code
/// words go over all lanes, totals of the port. libibmad (fields.c, IB_PESC_* and IB_PESC_RSFEC_*) has both.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "fabric/link_rate.h"
#include "mad/counters.h"
#include "mad/header.h"

namespace heddle::mad {

inline constexpr PmAttr port_extended_speeds{0x001f};
inline constexpr std::size_t most_lanes = 12;
namespace pm_cap {
inline constexpr std::uint16_t rs_fec = 1U << 14U;  ///< of ClassPortInfo.CapabilityMask
}  // namespace pm_cap

/// FC-FEC, or none: blocks of each lane.
struct LaneSpeedsCounters {
  PortNum port_select;
  std::uint64_t counter_select = 0;
  std::uint16_t sync_header_errors = 0;
  std::uint16_t unknown_blocks = 0;
  std::array<std::uint16_t, most_lanes> error_detections{};
  std::array<std::uint32_t, most_lanes> corrected_blocks{};
  std::array<std::uint32_t, most_lanes> uncorrectable_blocks{};
};

/// RS-FEC is active.
struct RsFecSpeedsCounters {
  PortNum port_select;
  std::uint64_t counter_select = 0;
  std::uint16_t sync_header_errors = 0;
  std::uint16_t unknown_blocks = 0;
  std::array<std::uint32_t, most_lanes> corrected_symbols{};
  std::uint32_t port_corrected_blocks = 0;
  std::uint32_t port_uncorrectable_blocks = 0;
  std::uint32_t port_corrected_symbols = 0;
};

template <>
[[nodiscard]] LaneSpeedsCounters decode_gmp<LaneSpeedsCounters>(ConstGmpData data);
template <>
void encode_gmp<LaneSpeedsCounters>(const LaneSpeedsCounters& value, GmpData data);
template <>
[[nodiscard]] RsFecSpeedsCounters decode_gmp<RsFecSpeedsCounters>(ConstGmpData data);
template <>
void encode_gmp<RsFecSpeedsCounters>(const RsFecSpeedsCounters& value, GmpData data);

/// Which of the two an answer is. RS-FEC's totals lie where the other layout is reserved, and are counted
/// only by agents that say so in ClassPortInfo (pm_cap::rs_fec); PAM4 links (HDR and later) have no other
/// FEC. Where all of both is 0, it makes no difference.
enum class FecLayout : std::uint8_t { Lanes, RsFec };
[[nodiscard]] FecLayout fec_layout(std::uint16_t pma_capability_mask, LinkSpeed speed, ConstGmpData data);

}  // namespace heddle::mad
