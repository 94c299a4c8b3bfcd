/// Files that others read, replaced as a whole: whoever reads one finds the old text or the new one, also
/// after a crash. They wait for the disk.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace heddle {

/// Writes the text to a file beside `path`, and waits until the disk has it. The file's path.
/// Errors: Io, with the step; nothing is left behind.
[[nodiscard]] Result<std::string> write_beside(const std::string& path, std::string_view text);
/// The file that write_beside() has written becomes `path`. Errors: likewise.
[[nodiscard]] Result<void> put_in_place(const std::string& scratch, const std::string& path);

/// Io: "cannot STEP PATH: " and what errno says.
[[nodiscard]] tl::unexpected<Error> io_error(const char* step, const std::string& path);

}  // namespace heddle
