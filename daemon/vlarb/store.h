/// The assignments on disk, so that a daemon that starts again knows what was pushed. One file, replaced as a
/// whole: always the one before or this one. Blocks for the disk.
#pragma once

#include <string>
#include <vector>

#include "vlarb/targets.h"

namespace heddle::vlarb {

/// Error: Io, with the step that failed.
[[nodiscard]] Result<void> store(const std::string& path, const std::vector<Assignment>& assignments);
/// None where there is no file. Errors: Io; Invalid, naming the file, for one that cannot be understood.
[[nodiscard]] Result<std::vector<Assignment>> load(const std::string& path);

/// What the file holds.
[[nodiscard]] std::string to_text(const std::vector<Assignment>& assignments);
[[nodiscard]] Result<std::vector<Assignment>> parse(const std::string& text, const std::string& name);

}  // namespace heddle::vlarb
