/// The file that OpenSM reads its forwarding tables from, where it cannot load the plugin. Waits for the disk
/// and for the command.
#pragma once

#include <string>

#include "base/result.h"

namespace heddle::app {

/// Replaces the file at `path`, and runs `reload`, a program and its arguments apart by spaces, if there is
/// one: without a shell, and for 10 s at most.
/// Errors: Io for the file; NotFound or Unreachable for a command that is not there, fails or does not end.
[[nodiscard]] Result<void> put_tables(const std::string& path, const std::string& text,
                                      const std::string& reload);

}  // namespace heddle::app
