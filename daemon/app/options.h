/// heddled's command line.
#pragma once

#include <iosfwd>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "app/config.h"

namespace heddle::app {

/// How to get the configuration, again at each SIGHUP.
struct ConfigSource {
  std::string file;  ///< empty: the built-in defaults
  std::vector<std::string> overrides;

  /// Read, overridden and checked.
  [[nodiscard]] Result<Config> load() const;
};

/// What the command line asks for: to run, or nothing more than an exit status.
struct ExitWith {
  int status = 0;
};
[[nodiscard]] std::variant<ConfigSource, ExitWith> parse_options(int argc, const char* const* argv,
                                                                 std::ostream& out, std::ostream& err);

}  // namespace heddle::app
