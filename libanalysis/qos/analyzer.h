/// What a pair of arbitration tables gives each VL when every VL always has a packet waiting and the next hop
/// always has room (thesis, chapter 6, made exact). Pure; any thread.
///
/// The arbiter has finitely many states, so its schedule repeats. Where each VL has packets of one size, the
/// period is found in closed form (grant_pattern.h, distances.h); where sizes are mixed within a VL, by
/// stepping the arbiter until its state comes again.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "qos/fraction.h"
#include "qos/iba_arbiter.h"
#include "qos/tables.h"

namespace heddle::qos {

/// Bytes of the packets of a VL, in the order in which they come, again and again. Mostly one size.
using PacketMix = std::vector<std::uint32_t>;
inline constexpr std::uint32_t max_packet_bytes = 65536;

struct AnalyzerOptions {
  LowGrant grant = LowGrant::Entry;
  Rounding rounding = Rounding::Up;  ///< Units: whatever the packet sizes, turns are taken every 64 bytes
  std::array<PacketMix, max_data_vls> packets = every_vl(weight_unit_bytes);

  [[nodiscard]] static std::array<PacketMix, max_data_vls> every_vl(std::uint32_t bytes) {
    std::array<PacketMix, max_data_vls> out;
    out.fill({bytes});
    return out;
  }
};

/// A VL that has an entry with weight in either table.
struct VlService {
  Vl vl;
  Fraction share;             ///< of all bytes
  std::uint64_t packets = 0;  ///< in one period
  /// Entries selected in both tables from one selection of the VL to its next; 0 if it is never selected. A
  /// low grant is one selection; a high entry that goes on after a grant is not selected anew.
  double mean_distance = 0;
  std::uint64_t max_distance = 0;
  /// Most bytes that others send while a packet is at the head of this VL's queue, whatever the others offer;
  /// none if the VL can be starved.
  std::optional<std::uint64_t> wait_bytes;
};

struct Analysis {
  std::vector<VlService> vls;  ///< by VL
  std::uint64_t period_packets = 0;
};

/// Errors: Invalid for tables that `check` refuses and packets of 0 or more than max_packet_bytes bytes;
/// Unsupported if the schedule takes more than a million packets to repeat (mixed or odd sizes): count
/// runs then.
[[nodiscard]] Result<Analysis> analyze(const VlArbitration& tables, const AnalyzerOptions& options = {});

}  // namespace heddle::qos
