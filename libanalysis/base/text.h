/// Text made of parts. fmt's way of appending to a string, and of writing lists, is a template that each
/// source that asks for it compiles for itself, all kinds of numbers included, which took two seconds each:
/// here it is compiled once (text.cc).
#pragma once

#include <fmt/core.h>

#include <string>
#include <string_view>

namespace heddle {

void append_formatted(std::string& text, fmt::string_view form, fmt::format_args parts);

/// At the end of `text`, as fmt::format_to() would.
template <class... Parts>
void append_to(std::string& text, fmt::format_string<Parts...> form, Parts&&... parts) {
  append_formatted(text, form, fmt::make_format_args(parts...));
}

/// One after the other: "2, 3, 5".
template <class Range>
[[nodiscard]] std::string joined(const Range& items, std::string_view between) {
  std::string text;
  std::string_view before;
  for (const auto& item : items) {
    append_to(text, "{}{}", before, item);
    before = between;
  }
  return text;
}

/// The first `most` of them by their names, and how many there are besides: "leaf-0, leaf-1, and 3 more".
template <class Range, class Name>
[[nodiscard]] std::string list_of(const Range& items, std::size_t most, Name name) {
  std::string text;
  std::size_t named = 0;
  for (const auto& item : items) {
    if (named == most) {
      append_to(text, ", and {} more", items.size() - most);
      break;
    }
    append_to(text, "{}{}", named++ == 0 ? "" : ", ", std::string(name(item)));
  }
  return text;
}

}  // namespace heddle
