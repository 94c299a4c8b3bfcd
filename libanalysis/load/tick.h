/// How long a tick of PortXmitWait is. IBA 16.1.3.2 makes it a multiple of the symbol time, 4 ns on SDR, and
/// devices chose differently: Quantum switches count every 8 bytes that a port could have sent, Switch-IB and
/// older ones every 32 bytes of a lane (NVIDIA, ibdiagnet manual, "Congestion assessment on InfiniBand
/// links"). So the tick is a matter of configuration, per vendor and device.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "fabric/link_rate.h"

namespace heddle::load {

struct Tick {
  enum class Unit : std::uint8_t {
    Nanoseconds,
    PortBytes,  ///< the time in which the port could have sent so many
    LaneBytes,  ///< the time in which one of its lanes could have
  };
  double length = 4;
  Unit unit = Unit::Nanoseconds;
  friend constexpr bool operator==(const Tick&, const Tick&) = default;
};

struct TickRule {
  std::uint32_t vendor_id = 0;
  std::optional<std::uint16_t> device_id;  ///< none: all of the vendor
  Tick tick;
};

/// The first rule that matches wins; `otherwise` is for a device that no rule names. A table without rules is
/// right for the simulated fabric, whose tick is 4 ns everywhere.
struct TickTable {
  std::vector<TickRule> rules;
  Tick otherwise;

  [[nodiscard]] Tick find(std::uint32_t vendor_id, std::uint16_t device_id) const;
};

/// What manufacturers have published of their devices.
[[nodiscard]] TickTable documented_ticks();

/// Ticks per second of a port that waits all the time; 0 for a port that is down.
[[nodiscard]] double ticks_per_second(Tick tick, LinkWidth width, LinkSpeed speed);

}  // namespace heddle::load
