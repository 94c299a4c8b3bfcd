/// What SIGHUP changes in a running daemon, and what waits for the next start.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "app/config.h"

namespace heddle::app {

/// Keys that take effect when the configuration is read again; all others do at the next start.
[[nodiscard]] bool takes_effect_at_once(std::string_view key);

/// Keys that are given otherwise than they were at the start, and take effect at the next one. In order.
[[nodiscard]] std::vector<std::string> waiting_for_a_start(const Config& started, const Config& fresh);

}  // namespace heddle::app
