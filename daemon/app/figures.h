/// What /metrics tells of regulation and of QoS tables.
#pragma once

#include <vector>

#include "app/config.h"
#include "core/qos_control.h"
#include "core/regulation_control.h"
#include "metrics/qos_metrics.h"
#include "metrics/regulation_metrics.h"

namespace heddle::app {

/// Of a fabric that is known. `energy` is read where `detail` asks for more than totals.
[[nodiscard]] metrics::RegulationFigures regulation_figures(const core::RegulationState& state,
                                                            const power::EnergyRecord& energy,
                                                            const std::vector<regulate::DrainShown>& drains,
                                                            EnergyDetail detail);
[[nodiscard]] metrics::QosFigures qos_figures(const core::QosState& state, Instant now);

}  // namespace heddle::app
