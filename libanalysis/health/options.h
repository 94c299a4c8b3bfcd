/// What health is measured against: the section [health] of the configuration.
#pragma once

#include <chrono>
#include <cstdint>
#include <set>

#include "base/units.h"
#include "health/finding.h"

namespace heddle::health {

/// Events per window are compared with what a link of its rate may have: rate x window x bit error rate.
/// Sources: UFM's PDR plugin (ufm_sdk_3.0), which takes ports out by these windows and rates, and by 5
/// changes of state within 10 sweeps; IBA volume 2, 5.7, which asks for 1e-12 of a lane without FEC;
/// infiniband-diags' error_thresholds.
struct Options {
  FabricClock::duration window = std::chrono::minutes{12};
  FabricClock::duration long_window = std::chrono::minutes{125};
  double effective_ber = 1e-14;        ///< in `window`, from FDR on: what the receiver could not correct
  double effective_ber_long = 1e-15;   ///< in `long_window`, likewise
  double raw_ber = 1e-12;              ///< in both, below FDR: no FEC corrects anything there
  std::uint32_t receive_errors = 10;   ///< in `window`
  std::uint32_t recoveries = 2;        ///< in `long_window`
  std::uint32_t integrity_errors = 2;  ///< in `long_window`
  std::uint32_t downs = 1;             ///< of a link between switches, in `long_window`
  std::uint32_t flaps = 3;             ///< of any link, in `window`
  std::uint32_t discards = 100;        ///< in `window`
  double unbalance = 4;                ///< of a trunk's links, the busiest against the least busy in `window`
  Ratio unbalance_from{0.1};           ///< if the busiest is at least so busy
  /// Of the time that a port to a host had data and no credits in `window`; no published source: a link that
  /// waits so long holds up what is behind it.
  Ratio slow_receiver{0.1};
  std::set<Rule> off;  ///< that nobody wants to hear of
};

}  // namespace heddle::health
