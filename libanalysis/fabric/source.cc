#include "fabric/source.h"

#include <fmt/format.h>

#include <cerrno>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <system_error>
#include <utility>

namespace heddle {

Result<std::string> read_text_file(const std::string& path) {
  constexpr std::uintmax_t most = std::uintmax_t{1} << 30U;
  std::error_code error;
  if (std::filesystem::is_directory(path, error)) {
    return fail(ErrorCode::Io, fmt::format("{}: this is a directory; a file is needed", path));
  }
  std::ifstream in{path, std::ios::binary};
  if (!in) return fail(ErrorCode::Io, fmt::format("{}: cannot be opened: {}", path, std::strerror(errno)));
  std::string text;
  std::string block(1U << 16U, '\0');
  while (in.read(block.data(), static_cast<std::streamsize>(block.size())) || in.gcount() > 0) {
    text.append(block, 0, static_cast<std::size_t>(in.gcount()));
    if (text.size() > most) return fail(ErrorCode::Io, fmt::format("{}: larger than {} bytes", path, most));
  }
  if (in.bad()) return fail(ErrorCode::Io, fmt::format("{}: cannot be read", path));
  return text;
}

Result<ParsedFabric> load_fabric(const std::string& source, Losses losses) {
  if (is_generator_spec(source)) {
    auto fabric = generate(source);
    if (!fabric) return fail(fabric.error());
    return ParsedFabric{std::move(*fabric)};
  }
  const auto text = read_text_file(source);
  if (!text) return fail(text.error());
  const std::filesystem::path directory = std::filesystem::path{source}.parent_path();
  return parse_topology(
      *text, source,
      {[&](const std::string& path) { return read_text_file((directory / path).string()); }, losses});
}

}  // namespace heddle
