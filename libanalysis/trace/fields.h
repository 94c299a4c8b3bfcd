/// The fields of a text line, for readers that say file, line and field when something is wrong.
#pragma once

#include <fmt/format.h>

#include <charconv>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"

namespace heddle::trace {

class Fields {
 public:
  Fields(std::string_view file, std::size_t line, std::string_view text)
      : file_{file}, line_{line}, rest_{text} {}

  /// The next field, separated by blanks; empty at the end.
  [[nodiscard]] std::string_view word() {
    skip();
    std::size_t end = 0;
    while (end < rest_.size() && !blank(rest_[end])) ++end;
    const std::string_view found = rest_.substr(0, end);
    rest_.remove_prefix(end);
    return found;
  }
  [[nodiscard]] bool at_end() {
    skip();
    return rest_.empty();
  }

  /// The next field as a whole number of at most `most`.
  [[nodiscard]] Result<std::uint64_t> number(std::string_view field, std::uint64_t most) {
    return parse(word(), field, most);
  }

  [[nodiscard]] Result<std::uint64_t> parse(std::string_view text, std::string_view field,
                                            std::uint64_t most) const {
    std::uint64_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (text.empty()) return wrong(field, "is missing");
    if (error == std::errc::result_out_of_range || (error == std::errc{} && value > most)) {
      return wrong(field, fmt::format("is {}, at most {} is possible", shown(text), most));
    }
    if (error != std::errc{} || end != text.data() + text.size()) {
      return wrong(field, fmt::format("is \"{}\", a whole number must stand there", shown(text)));
    }
    return value;
  }

  [[nodiscard]] tl::unexpected<Error> wrong(std::string_view field, std::string_view what) const {
    return fail(ErrorCode::Invalid, fmt::format("{}:{}: {} {}", file_, line_, field, what));
  }

  /// Text of strangers, short and printable.
  [[nodiscard]] static std::string shown(std::string_view text) {
    std::string result;
    for (const char c : text.substr(0, 40)) result += c >= ' ' && c <= '~' ? c : '?';
    return result;
  }

 private:
  static bool blank(char c) { return c == ' ' || c == '\t' || c == '\r'; }
  void skip() {
    while (!rest_.empty() && blank(rest_.front())) rest_.remove_prefix(1);
  }

  std::string_view file_;
  std::size_t line_;
  std::string_view rest_;
};

}  // namespace heddle::trace
