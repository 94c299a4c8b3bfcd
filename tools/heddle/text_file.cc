#include "heddle/text_file.h"

#include <fmt/format.h>

#include <fstream>

namespace heddle::cli {

Result<void> write_text_file(const std::string& path, const std::string& text) {
  std::ofstream file{path, std::ios::binary};
  file << text << std::flush;
  if (!file) return fail(ErrorCode::Io, fmt::format("{}: cannot be written", path));
  return {};
}

}  // namespace heddle::cli
