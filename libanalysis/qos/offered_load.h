/// Shares when VLs offer less than they could get: what one leaves, the tables give to the others.
///
/// A fluid model. In each round of a table a VL that always waits gets what its entries allow; a VL that
/// offers less takes part in as many turns as it needs. High rounds and low rounds are tied by the limit,
/// unless one side has nothing left to send. Load comes evenly, not in bursts. Exact where all packets are of
/// one size; with several, what a grant overshoots is taken from the schedule in which every VL waits.
#pragma once

#include <array>
#include <optional>

#include "qos/analyzer.h"

namespace heddle::qos {

/// By VL, as a part of the link rate; none: always waiting.
using OfferedLoads = std::array<std::optional<double>, max_data_vls>;

/// By VL, as a part of the link rate; they sum to less than 1 if less is offered.
/// Errors: as of `analyze`; Invalid for a negative load; Unsupported for sizes mixed within a VL.
[[nodiscard]] Result<std::array<double, max_data_vls>> shares_under_load(const VlArbitration& tables,
                                                                         const AnalyzerOptions& options,
                                                                         const OfferedLoads& loads);

}  // namespace heddle::qos
