/// The counters of a port that are followed, and how wide each of them is on which kind of agent
/// (IBA 16.1.3.5, 16.1.4.11). Data counters count units of 4 bytes here as they do on the wire.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace heddle::load {

enum class Counter : std::uint8_t {
  XmitData,
  RcvData,
  XmitPackets,
  RcvPackets,
  UnicastXmitPackets,
  UnicastRcvPackets,
  MulticastXmitPackets,
  MulticastRcvPackets,
  XmitWait,
  SymbolErrors,
  LinkRecovers,
  LinkDowned,
  RcvErrors,
  RcvRemotePhysicalErrors,
  RcvSwitchRelayErrors,
  XmitDiscards,
  XmitConstraintErrors,
  RcvConstraintErrors,
  LocalLinkIntegrityErrors,
  ExcessiveBufferOverrunErrors,
  Vl15Dropped,
  Qp1Dropped,
};
inline constexpr std::size_t counter_count = 22;

/// A set of counters: bit i is Counter i.
using CounterMask = std::uint32_t;
[[nodiscard]] constexpr CounterMask mask(Counter counter) {
  return CounterMask{1} << static_cast<unsigned>(counter);
}
template <class... More>
[[nodiscard]] constexpr CounterMask mask(Counter first, More... more) {
  return mask(first) | mask(more...);
}

/// XmitData, RcvData and the packets of both directions.
inline constexpr CounterMask traffic_counters =
    mask(Counter::XmitData, Counter::RcvData, Counter::XmitPackets, Counter::RcvPackets);
inline constexpr CounterMask cast_counters =
    mask(Counter::UnicastXmitPackets, Counter::UnicastRcvPackets, Counter::MulticastXmitPackets,
         Counter::MulticastRcvPackets);
inline constexpr CounterMask all_counters = (CounterMask{1} << counter_count) - 1;
/// Errors and XmitWait.
inline constexpr CounterMask error_counters = all_counters & ~traffic_counters & ~cast_counters;

using CounterValues = std::array<std::uint64_t, counter_count>;
[[nodiscard]] constexpr std::size_t at(Counter counter) { return static_cast<std::size_t>(counter); }

/// How wide a reading is: a PortCounters has narrow counters that stick at their largest value, a
/// PortCountersExtended has 64 bits.
enum class Width : std::uint8_t { Narrow, Wide };

/// Bits of a counter in a PortCounters; 0 for one that it has not.
[[nodiscard]] int narrow_bits(Counter counter);
/// The value at which a counter sticks. 64-bit counters never get there.
[[nodiscard]] std::uint64_t largest(Counter counter, Width width);

/// "xmit_data", "symbol_errors": as it is called in the API and in messages.
[[nodiscard]] std::string_view to_string(Counter counter);

}  // namespace heddle::load
