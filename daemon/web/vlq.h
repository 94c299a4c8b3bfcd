/// Whole numbers as few characters of text, as source maps write them (base64 VLQ): 5 bits a character,
/// lowest first, the sixth bit says that more follow. Small numbers, which are what changes mostly are, take
/// one character, and the text needs no escapes in JSON or in server-sent events.
#pragma once

#include <cstdint>
#include <string>

namespace heddle::web {

/// Characters that append_unsigned(value) takes.
[[nodiscard]] constexpr std::size_t vlq_length(std::uint64_t value) {
  std::size_t length = 1;
  while (value >>= 5U) ++length;
  return length;
}
/// 0, -1, 1, -2, 2 become 0, 1, 2, 3, 4.
[[nodiscard]] constexpr std::uint64_t zigzag(std::int64_t value) {
  return (static_cast<std::uint64_t>(value) << 1U) ^ static_cast<std::uint64_t>(value >> 63U);
}

inline void append_unsigned(std::string& text, std::uint64_t value) {
  constexpr char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  do {
    const std::uint64_t more = value > 31 ? 32 : 0;
    text += digits[(value & 31U) | more];
    value >>= 5U;
  } while (value != 0);
}
inline void append_signed(std::string& text, std::int64_t value) { append_unsigned(text, zigzag(value)); }

}  // namespace heddle::web
