/// What /metrics tells of regulation and of QoS tables.
#pragma once

#include "app/config.h"
#include "core/qos_control.h"
#include "metrics/qos_metrics.h"
#include "metrics/regulation_metrics.h"
#include "regulate/regulator.h"

namespace heddle::app {

/// Of a regulator that knows the fabric.
[[nodiscard]] metrics::RegulationFigures regulation_figures(const regulate::Regulator& regulator,
                                                            EnergyDetail detail);
[[nodiscard]] metrics::QosFigures qos_figures(const core::QosState& state, Instant now);

}  // namespace heddle::app
