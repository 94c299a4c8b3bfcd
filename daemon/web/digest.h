/// A short name for a text's content, for entity tags (RFC 9110, 8.8.3): FNV-1a with 64 bits. Tells versions
/// apart, and protects against nothing.
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <string>
#include <string_view>

namespace heddle::web {

[[nodiscard]] inline std::string hex_digest(std::string_view text) {
  std::uint64_t hash = 0xcbf29ce484222325U;
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3U;
  return fmt::format("{:016x}", hash);
}

}  // namespace heddle::web
