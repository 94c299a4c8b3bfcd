/// The longest time, in bytes that others send, that a packet can be at the head of its VL's queue before it
/// goes, whatever the other VLs offer. It holds for an arbiter that is never short of credits.
#pragma once

#include <cstdint>
#include <optional>

#include "qos/analyzer.h"

namespace heddle::qos {

/// None: the VL can be starved, or has no entry with weight.
[[nodiscard]] std::optional<std::uint64_t> wait_bound(const VlArbitration& tables, Vl vl,
                                                      const AnalyzerOptions& options);

}  // namespace heddle::qos
