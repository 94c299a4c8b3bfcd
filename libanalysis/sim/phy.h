/// What the physical layers of the simulated ports meet as bits come in: errors that FEC corrects, and code
/// words that it cannot. Rates in, totals out, exact in simulated time.
#pragma once

#include <cstdint>
#include <unordered_map>

#include "base/ids.h"
#include "base/units.h"
#include "fabric/link_rate.h"
#include "sim/faults.h"

namespace heddle::sim {

struct PhyTotals {
  std::uint64_t corrected = 0;      ///< symbols
  std::uint64_t uncorrectable = 0;  ///< code words
};

class Phy {
 public:
  /// From here on.
  void set(PortIndex port, const BitErrors& errors, Picoseconds now);
  /// Since the last reset. With PAM4 some bits are always wrong, and corrected.
  [[nodiscard]] PhyTotals read(PortIndex port, LinkWidth width, LinkSpeed speed, Picoseconds now) const;
  /// Of code words that could not be corrected: symbol errors as PortCounters has them.
  [[nodiscard]] std::uint64_t symbol_errors(PortIndex port, Picoseconds now) const;
  /// The counters begin at 0 again.
  void reset(PortIndex port, LinkWidth width, LinkSpeed speed, Picoseconds now);
  void reset_symbol_errors(PortIndex port, Picoseconds now);

 private:
  struct State {
    BitErrors errors;
    Picoseconds since{0};
    PhyTotals until_then;
    PhyTotals base;  ///< at the last reset
    std::uint64_t symbol_base = 0;
  };
  [[nodiscard]] static PhyTotals total(const State& state, Picoseconds now);

  std::unordered_map<PortIndex, State> states_;  ///< of ports that are not as all others
};

}  // namespace heddle::sim
