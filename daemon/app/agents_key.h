/// What messages to agents of hosts are sealed with (libanalysis/apm/seal.h).
#pragma once

#include <cstdint>
#include <optional>

#include "apm/seal.h"
#include "app/config.h"
#include "base/result.h"

namespace heddle::app {

/// Of agents.key_file; none where that names none. Errors: those of reading a secret and of apm::parse_key().
[[nodiscard]] Result<std::optional<apm::Key>> key_of_agents(const Config& config);

/// Since 1970, by the clock of this host.
[[nodiscard]] std::uint64_t microseconds_of_day();

}  // namespace heddle::app
