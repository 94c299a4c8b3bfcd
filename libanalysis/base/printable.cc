#include "base/printable.h"

#include <cstdint>
#include <optional>

namespace heddle {
namespace {

struct Character {
  std::uint32_t code = 0;
  std::size_t length = 0;
};

/// The UTF-8 character at the beginning of `bytes`, unless it is malformed, overlong, a surrogate or out of
/// range (RFC 3629).
std::optional<Character> decode(std::string_view bytes) {
  const auto byte = [&](std::size_t i) { return static_cast<std::uint8_t>(bytes[i]); };
  const std::uint8_t first = byte(0);
  if (first < 0x80) return Character{first, 1};
  const std::size_t length = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
  if (first < 0xc2 || first > 0xf4 || bytes.size() < length) return std::nullopt;
  std::uint32_t code = first & (0x7fU >> length);
  for (std::size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xc0U) != 0x80) return std::nullopt;
    code = code << 6U | (byte(i) & 0x3fU);
  }
  const bool overlong = (length == 3 && code < 0x800) || (length == 4 && code < 0x10000);
  if (overlong || code > 0x10ffff || (code >= 0xd800 && code <= 0xdfff)) return std::nullopt;
  return Character{code, length};
}

bool fit_to_print(std::uint32_t code) {
  const auto within = [code](std::uint32_t first, std::uint32_t last) {
    return code >= first && code <= last;
  };
  return !within(0, 0x1f) && !within(0x7f, 0x9f) && !within(0x200e, 0x200f) && !within(0x2028, 0x202e) &&
         !within(0x2066, 0x2069) && code != 0xfeff;
}

}  // namespace

std::string printable(std::string_view bytes) {
  while (!bytes.empty() && bytes.back() == '\0') bytes.remove_suffix(1);
  std::string text;
  text.reserve(bytes.size());
  while (!bytes.empty()) {
    const auto character = decode(bytes);
    const std::size_t length = character ? character->length : 1;
    if (character && fit_to_print(character->code)) {
      text += bytes.substr(0, length);
    } else {
      text += '?';
    }
    bytes.remove_prefix(length);
  }
  return text;
}

std::string quoted(std::string_view bytes, std::size_t most) {
  std::string text = printable(bytes);
  std::size_t end = 0;
  for (std::size_t characters = 0; end < text.size() && characters < most; ++characters) {
    do {
      ++end;
    } while (end < text.size() && (static_cast<std::uint8_t>(text[end]) & 0xc0U) == 0x80);
  }
  const bool cut = end < text.size();
  return '"' + text.substr(0, end) + (cut ? "...\"" : "\"");
}

}  // namespace heddle
