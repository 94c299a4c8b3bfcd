/// What can go wrong with the MADs of a node, on demand.
#pragma once

#include <cstdint>
#include <optional>

#include "base/ids.h"
#include "base/units.h"
#include "fabric/link_rate.h"
#include "mad/firmware.h"

namespace heddle::sim {

/// Chances are per MAD and direction, drawn from the fabric's seed.
struct MadFaults {
  Ratio lost{};
  Ratio duplicated{};
  Ratio corrupted{};  ///< one random byte of the MAD changed
  Ratio delayed{};    ///< by `delay`
  Picoseconds delay{0};
};

/// Of the agents (SMA and PMA) of one node.
struct AgentFaults {
  bool mute_sma = false;
  bool mute_pma = false;
  bool wrong_tid = false;
  bool wrong_attribute = false;
  Picoseconds slow{0};          ///< added to each answer
  bool stuck_counters = false;  ///< PortCounters and PortCountersExtended are all 0 for ever
};

/// PMA redirection (IBA 13.5.2): asked at QP1, the node points to `qp` at port `target`, which answers in its
/// place.
struct Redirect {
  PortIndex target;
  std::uint32_t qp = 2;
};

/// What goes wrong as a port receives, besides the bits that PAM4 always has wrong. A code word that cannot
/// be corrected is a symbol error of PortCounters, too.
struct BitErrors {
  double corrected_per_second = 0;      ///< symbols
  double uncorrectable_per_second = 0;  ///< code words
};

/// The most that a cable carries, as with lanes that are dead, or one of an older kind.
struct CableLimit {
  LinkWidth width = LinkWidth::None;  ///< None: as the ports can
  LinkSpeed speed = LinkSpeed::None;  ///< likewise
};

struct Flap {
  Picoseconds down{0};
  Picoseconds up{0};
  std::uint32_t times = 1;
};

/// What a node says that it is (NodeInfo).
struct Device {
  std::uint16_t id = 0;  ///< 0: as the description has it
  std::uint32_t revision = 0xa0;
  mad::Firmware firmware{27, 2012, 4036, "HDL0000000001"};
};

/// Error counters of a port (IBA 16.1.3.5), in the order of CounterSelect2 of PortCountersExtended.
enum class ErrorCounter : std::uint8_t {
  Symbol,
  LinkRecovers,
  LinkDowned,
  RcvErrors,
  RcvRemotePhysical,
  RcvSwitchRelay,
  XmitDiscards,
  XmitConstraint,
  RcvConstraint,
  LocalLinkIntegrity,
  ExcessiveBufferOverrun,
  Vl15Dropped,
  Qp1Dropped,
};
inline constexpr std::size_t error_counter_count = 13;

/// Why RcvErrors and XmitDiscards grow, where it is neither a bit that went wrong on the link nor a queue
/// that stood too long (IBA 16.1.4.1, 16.1.4.2).
enum class ErrorDetail : std::uint8_t {
  Malformed,      ///< of RcvErrors
  BufferOverrun,  ///< likewise
  Inactive,       ///< of XmitDiscards
  NeighborMtu,    ///< likewise
  Lifetime,       ///< likewise
};
inline constexpr std::size_t error_detail_count = 5;
[[nodiscard]] constexpr ErrorCounter counter_of(ErrorDetail detail) {
  return detail <= ErrorDetail::BufferOverrun ? ErrorCounter::RcvErrors : ErrorCounter::XmitDiscards;
}

}  // namespace heddle::sim
