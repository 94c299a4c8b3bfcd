/// The check that every analysis starts with.
#pragma once

#include "qos/analyzer.h"

namespace heddle::qos {

/// Errors: Invalid, naming the table's entry or the VL.
[[nodiscard]] Result<void> check_options(const VlArbitration& tables, const AnalyzerOptions& options);

}  // namespace heddle::qos
