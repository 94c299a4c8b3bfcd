/// What `event_plugin_options` of opensm.conf says to us: "heddle-opensm:plan=PATH,socket=PATH". Everything
/// has a default, so that an operator needs not even this line.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace heddle::plugin {

struct Options {
  std::string plan = "/var/lib/heddle/plan.json";
  std::string socket = "/run/heddle/opensm.sock";  ///< "@name": abstract; empty: no channel
};

/// Words for other plugins, apart by spaces or semicolons, are skipped. Error: Invalid for an unknown key.
[[nodiscard]] Result<Options> parse_options(std::string_view text);

}  // namespace heddle::plugin
