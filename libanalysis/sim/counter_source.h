/// What a data plane tells the control plane: the traffic counters of ports, computed only when a PMA is
/// asked for them. The control plane keeps resets, saturation and error counters; a data plane only ever
/// adds.
#pragma once

#include <array>
#include <cstdint>

#include "base/ids.h"
#include "base/units.h"

namespace heddle::sim {

/// One tick of PortXmitWait and of PortSamplesControl: (Tick 0 + 1) x 4 ns (IBA 16.1.3.2).
inline constexpr Picoseconds counter_tick{4'000};

/// Since the data plane began; never goes back.
struct PortTotals {
  std::uint64_t xmit_data = 0;  ///< units of 4 bytes
  std::uint64_t rcv_data = 0;   ///< units of 4 bytes
  std::uint64_t xmit_packets = 0;
  std::uint64_t rcv_packets = 0;
  std::uint64_t xmit_wait = 0;          ///< counter ticks in which data waited and none was sent
  std::uint64_t xmit_discards = 0;      ///< for want of an Active port, or aged in the queue
  std::uint64_t inactive_discards = 0;  ///< of these, routed into a port that is not Active
};

struct VlTotals {
  std::array<std::uint64_t, 16> xmit_data{};
  std::array<std::uint64_t, 16> xmit_packets{};
  std::array<std::uint64_t, 16> xmit_wait{};
};

/// Implemented by a data plane. Called from SimulatedFabric::send and advance, never for a time earlier than
/// that of an earlier call.
class CounterSource {
 public:
  virtual ~CounterSource() = default;
  [[nodiscard]] virtual PortTotals read(PortIndex port, Picoseconds now) = 0;
  [[nodiscard]] virtual VlTotals read_vls(PortIndex /*port*/, Picoseconds /*now*/) { return {}; }
  /// What stands in the transmit queue of a VL, in units of 64-byte credits.
  [[nodiscard]] virtual std::uint32_t queue_depth(PortIndex /*port*/, Vl /*vl*/, Picoseconds /*now*/) {
    return 0;
  }
  /// How long a packet that joins this queue waits before it is sent: what makes GMPs late under congestion.
  [[nodiscard]] virtual Picoseconds queue_delay(PortIndex /*port*/, Vl /*vl*/, Picoseconds /*now*/) {
    return Picoseconds{0};
  }
};

}  // namespace heddle::sim
