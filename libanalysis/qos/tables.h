/// The tables with which a port shares its link between virtual lanes (IBA 7.6.9), and the check that a port
/// can hold them. Plain values; weights count units of 64 bytes, LimitOfHighPriority counts units of 4,096
/// bytes.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "base/ids.h"
#include "base/result.h"

namespace heddle::qos {

/// Most entries of a VLArbitration table (IBA 14.2.5.6, VLArbHighCap and VLArbLowCap).
inline constexpr std::size_t max_entries = 64;
/// VL0..VL14 carry data; VL15 is management and is never in a table.
inline constexpr unsigned max_data_vls = 15;
inline constexpr unsigned sl_count = 16;
inline constexpr std::uint32_t weight_unit_bytes = 64;
inline constexpr std::uint32_t limit_unit_bytes = 4096;

struct ArbEntry {
  Vl vl;
  std::uint8_t weight = 0;  ///< 0: the entry is skipped
  friend constexpr auto operator<=>(const ArbEntry&, const ArbEntry&) = default;
};

using ArbTable = std::vector<ArbEntry>;

/// PortInfo.LimitOfHighPriority: 0 one packet, 1..254 times 4,096 bytes, 255 no limit.
using HighLimit = Id<struct HighLimitTag, std::uint8_t>;
inline constexpr HighLimit one_packet{0};
inline constexpr HighLimit no_limit{255};

/// What an output port is programmed with.
struct VlArbitration {
  ArbTable high;
  ArbTable low;
  HighLimit limit{1};
  friend bool operator==(const VlArbitration&, const VlArbitration&) = default;
};

/// SL -> VL of one (input port, output port) of a switch, or of a channel adapter's port.
struct Sl2Vl {
  std::array<Vl, sl_count> vl{};
  friend bool operator==(const Sl2Vl&, const Sl2Vl&) = default;
};
/// An SL that maps here is dropped (IBA 7.6.6).
inline constexpr Vl drop_vl{15};

/// All of a port; its map may be left to somebody else.
struct Tables {
  VlArbitration arbitration;
  std::optional<Sl2Vl> sl2vl;
  friend bool operator==(const Tables&, const Tables&) = default;
};

/// What a port has room for.
struct PortCapability {
  std::size_t high_entries = max_entries;
  std::size_t low_entries = max_entries;
  unsigned data_vls = max_data_vls;  ///< VL0 .. VL(data_vls - 1) are operational
};

/// Data VLs of a PortInfo.OperationalVLs code. Error: Invalid for a code outside 1..5.
[[nodiscard]] Result<unsigned> data_vls(std::uint8_t operational_vls_code);

/// Errors (Invalid, naming table and entry): too many entries, a VL that the port has not, a high table
/// without weight.
[[nodiscard]] Result<void> check(const VlArbitration& tables, const PortCapability& port);
/// Errors (Invalid, naming the SL): a VL that the port has not and that is not `drop_vl`.
[[nodiscard]] Result<void> check(const Sl2Vl& map, const PortCapability& port);

/// Sum of the weights of a table.
[[nodiscard]] std::uint32_t total_weight(const ArbTable& table);

}  // namespace heddle::qos
