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
  std::string record;  ///< the file that the run is recorded to; empty: none

  /// Read, overridden and checked.
  [[nodiscard]] Result<Config> load() const;
};

/// To play a recording instead.
struct ReplayAsked {
  std::string file;
  bool another_build = false;  ///< it may be of one
};

/// What the command line asks for: to run, to play a recording, or nothing more than an exit status.
struct ExitWith {
  int status = 0;
};
[[nodiscard]] std::variant<ConfigSource, ReplayAsked, ExitWith> parse_options(int argc,
                                                                              const char* const* argv,
                                                                              std::ostream& out,
                                                                              std::ostream& err);

}  // namespace heddle::app
