/// The configuration as the core takes it.
#pragma once

#include <vector>

#include "app/config.h"
#include "core/core_options.h"

namespace heddle::app {

/// All of it, but for what is read from the state directory.
[[nodiscard]] core::CoreOptions core_options(const Config& config, NodeNames names,
                                             const journal::Calendar& calendar);
/// What may change while the daemon runs.
[[nodiscard]] core::Settings core_settings(const Config& config);

}  // namespace heddle::app
