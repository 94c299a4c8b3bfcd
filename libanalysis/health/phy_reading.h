/// What the physical layers of ports corrected, and could not, as one round over them found it.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "base/units.h"
#include "fabric/fabric.h"
#include "mad/phy_counters.h"

namespace heddle::health {

/// Since the port's counters were last reset.
struct PhyReading {
  PortIndex port = no_port;
  Instant at{};
  mad::FecLayout layout = mad::FecLayout::Lanes;
  std::uint64_t corrected = 0;      ///< symbols with RS-FEC, else blocks: of each at least one bit was wrong
  std::uint64_t uncorrectable = 0;  ///< blocks
  bool corrected_full = false;      ///< stands at its largest value
  bool uncorrectable_full = false;  ///< likewise
};

struct PhyRound {
  std::shared_ptr<const Fabric> fabric;
  Instant ended{};
  std::vector<PhyReading> ports;  ///< that answered
};

}  // namespace heddle::health
