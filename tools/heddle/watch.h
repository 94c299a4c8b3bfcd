/// Repeats a command for `--watch`, on a screen that is cleared each time where it is a terminal.
#pragma once

#include <functional>

#include "base/result.h"
#include "heddle/command.h"

namespace heddle::cli {

/// Runs `once` every `seconds` until it fails or the program is interrupted; a single time for 0.
[[nodiscard]] Result<void> watch(double seconds, Context& context, const std::function<Result<void>()>& once);

}  // namespace heddle::cli
