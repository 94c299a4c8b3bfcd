/// The longest time, in bytes that others send, that a packet can be at the head of its VL's queue before it
/// goes, whatever the other VLs offer. It holds for an arbiter that is never short of credits.
#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include "qos/analyzer.h"

namespace heddle::qos {

/// By VL. None: the VL can be starved, or has no entry with weight.
using WaitBounds = std::array<std::optional<std::uint64_t>, max_data_vls>;

[[nodiscard]] WaitBounds wait_bounds(const VlArbitration& tables, const AnalyzerOptions& options);

}  // namespace heddle::qos
