/// Models corrected by what somebody has measured at real switches.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "power/power_model.h"

namespace heddle::power {

/// A switch's power as its own display, its power supplies or a meter at the plug tells it.
struct Reading {
  std::string node;  ///< what the switch is called
  Watts watts;
  std::optional<unsigned> ports;  ///< that were on; none: as many as are on when the reading is taken in
};

/// A reading, and what models make of the same switch.
struct Compared {
  NodeGuid node;
  Watts measured;
  Watts modelled;    ///< before the readings were known; 0 for a switch that no model knew
  Watts calibrated;  ///< with them
};

struct Calibration {
  PowerModel model;
  std::vector<Compared> compared;      ///< in the order of the readings
  std::vector<std::string> unmatched;  ///< readings of switches that the fabric has not
};

/// Fits what each model says to all readings of switches that it holds for: least squares over base and the
/// power of a port that is on, where readings were taken with different numbers of ports on; the base alone
/// otherwise. A switch that no model knows gets one of its own, for all with its vendor, device and
/// description or, where its name is its own, for it alone. Neither comes below 0. What is fitted counts a
/// port with its module. Precondition: a mode for each link.
[[nodiscard]] Calibration calibrate(const PowerModel& model, const Fabric& fabric,
                                    std::span<const LinkMode> modes, std::span<const Reading> readings);

}  // namespace heddle::power
