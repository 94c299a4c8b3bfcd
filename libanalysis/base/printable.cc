#include "base/printable.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <iterator>
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

struct Range {
  std::uint32_t first;
  std::uint32_t last;
};

/// What a reader does not see, or sees as something else, in order. Unicode 15: categories Cc, Zl and Zp;
/// Default_Ignorable_Code_Point (zero-width characters, fillers, marks of direction, variation selectors,
/// tags); spaces that are not the space; annotation marks; the blank Braille pattern.
constexpr std::array invisible{
    Range{0x0, 0x1f},        Range{0x7f, 0xa0},       Range{0xad, 0xad},     Range{0x34f, 0x34f},
    Range{0x61c, 0x61c},     Range{0x115f, 0x1160},   Range{0x1680, 0x1680}, Range{0x17b4, 0x17b5},
    Range{0x180b, 0x180f},   Range{0x2000, 0x200f},   Range{0x2028, 0x202f}, Range{0x205f, 0x206f},
    Range{0x2800, 0x2800},   Range{0x3000, 0x3000},   Range{0x3164, 0x3164}, Range{0xfe00, 0xfe0f},
    Range{0xfeff, 0xfeff},   Range{0xffa0, 0xffa0},   Range{0xfff0, 0xfffb}, Range{0x1bca0, 0x1bca3},
    Range{0x1d173, 0x1d17a}, Range{0xe0000, 0xe0fff},
};

bool fit_to_print(std::uint32_t code) {
  const auto after = std::ranges::upper_bound(invisible, code, {}, &Range::first);
  return after == invisible.begin() || code > std::prev(after)->last;
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

std::string in_quotes(std::string_view bytes, std::size_t most) {
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
