/// What SIGHUP changes in a running daemon, and what waits for the next start.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "app/config.h"

namespace heddle::app {

/// When a key that is given otherwise takes effect in a daemon that reads its configuration again.
enum class Effect : std::uint8_t {
  AtStart,  ///< at the next one
  AtOnce,
  ByStart,  ///< at once: the daemon ends in order and starts anew, with all that waited for a start
};
[[nodiscard]] Effect effect_of(std::string_view key);
/// A sentence for the configuration file; none for what is so unless something else is said.
[[nodiscard]] std::string_view in_words(Effect effect);

/// Keys that are given otherwise than they were at the start, and have this effect. In order.
[[nodiscard]] std::vector<std::string> changed(const Config& started, const Config& fresh, Effect effect);

}  // namespace heddle::app
