/// How a simulated fabric starts, and what its nodes can do.
#pragma once

#include <cstdint>

#include "base/units.h"

namespace heddle::sim {

/// What the agents of one node are like.
/// What firmware makes of bit 31 of PortInfo's modifier, by which whoever asks says that it knows extended
/// speeds.
enum class ExtendedSpeeds : std::uint8_t {
  Always,    ///< shown to everybody
  Asked,     ///< shown to whoever says so; to others as QDR
  NotAsked,  ///< the bit is not taken; shown to everybody else
  Hidden,    ///< the bit is not taken, and nobody is shown more than QDR
};

struct NodeTraits {
  bool extended_counters = true;      ///< PortCountersExtended; without it the node counts in 32 bits only
  bool ietf_counters = true;          ///< unicast and multicast packets in them
  bool extended_errors = true;        ///< 64-bit error counters and XmitWait
  bool xmit_wait = true;              ///< PortXmitWait at all
  bool all_ports = true;              ///< port select 255
  bool phy_counters = true;           ///< PortExtendedSpeedsCounters
  bool rs_fec = true;                 ///< its layout for RS-FEC, on links from EDR on
  bool error_details = true;          ///< PortRcvErrorDetails and PortXmitDiscardDetails
  bool general_info = true;           ///< of the vendor: which firmware it runs
  bool samples = true;                ///< PortSamplesControl and PortSamplesResult
  bool traps = true;                  ///< IsTrapSupported
  std::uint8_t data_vls = 8;          ///< 1, 2, 4, 8 or 15
  std::uint8_t arbitration_cap = 64;  ///< entries of each VLArb table
  ExtendedSpeeds extended_speeds = ExtendedSpeeds::Always;
  bool optimized_sl2vl = false;  ///< switches say that one Set may write the SL2VL tables of all ports
};

enum class Lids : std::uint8_t { Clear, Keep };

struct Options {
  std::uint64_t seed = 1;
  /// Clear: no port has a LID and all are in Init, as after power-on. Keep: LIDs and states of the
  /// description (forwarding tables are empty all the same).
  Lids lids = Lids::Clear;
  /// From the moment both ends may train until LinkUp.
  Picoseconds training_delay{0};
  /// Above training_delay: how long a link trains is drawn between the two (sim/training.h).
  Picoseconds longest_training{0};
  /// One way, from sender to receiver.
  Picoseconds mad_latency{0};
  /// How long an SMA works on one SMP; others wait in line.
  Picoseconds smp_service{0};
  Picoseconds trap_interval{1'000'000'000'000};  ///< between repetitions
  std::uint64_t m_key = 0;                       ///< of every port, with protection level `m_key_protect`
  std::uint8_t m_key_protect = 0;
  bool count_management = false;  ///< MADs move the data counters of the ports that they cross
  bool congested_gmps = false;    ///< GMPs wait as CounterSource::queue_delay says
  bool trap_own_set = false;      ///< a port changed by a Set raises a trap on its own side as well
  NodeTraits traits{};
};

}  // namespace heddle::sim
