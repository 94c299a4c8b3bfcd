/// Files that commands write.
#pragma once

#include <string>

#include "base/result.h"

namespace heddle::cli {

/// Replaces what is there. Errors: Io.
[[nodiscard]] Result<void> write_text_file(const std::string& path, const std::string& text);

}  // namespace heddle::cli
