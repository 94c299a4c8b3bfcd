/// What is left of a line of a topology file, taken from the front word by word. What does not fit is left
/// where it is.
#pragma once

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <optional>
#include <string_view>
#include <system_error>

namespace heddle::topology {

[[nodiscard]] constexpr bool is_space(char c) {
  return c == ' ' || c == '\t' || c == '\r' || c == '\v' || c == '\f';
}

class Scanner {
 public:
  explicit Scanner(std::string_view text) : rest_{text} {}

  [[nodiscard]] std::string_view rest() const { return rest_; }
  [[nodiscard]] bool at_end() const { return rest_.empty(); }
  [[nodiscard]] char next() const { return rest_.empty() ? '\0' : rest_.front(); }

  void skip_space() {
    while (!rest_.empty() && is_space(rest_.front())) rest_.remove_prefix(1);
  }
  bool accept(std::string_view word) {
    if (!rest_.starts_with(word)) return false;
    rest_.remove_prefix(word.size());
    return true;
  }
  std::optional<std::uint64_t> number(int base) {
    std::uint64_t value = 0;
    const auto [end, error] = std::from_chars(rest_.data(), rest_.data() + rest_.size(), value, base);
    if (error != std::errc{}) return std::nullopt;
    rest_.remove_prefix(static_cast<std::size_t>(end - rest_.data()));
    return value;
  }
  /// As C reads it: hexadecimal after 0x.
  std::optional<std::uint64_t> number() { return accept("0x") || accept("0X") ? number(16) : number(10); }
  std::string_view word() {
    const auto end = std::ranges::find_if(rest_, is_space);
    const auto length = static_cast<std::size_t>(end - rest_.begin());
    const std::string_view result = rest_.substr(0, length);
    rest_.remove_prefix(length);
    return result;
  }
  std::optional<std::string_view> quoted_text() {
    if (next() != '"') return std::nullopt;
    const std::size_t end = rest_.find('"', 1);
    if (end == std::string_view::npos) return std::nullopt;
    const std::string_view result = rest_.substr(1, end - 1);
    rest_.remove_prefix(end + 1);
    return result;
  }
  /// Up to the last quotation mark: a description may hold some itself.
  std::optional<std::string_view> description() {
    const std::size_t end = rest_.rfind('"');
    if (next() != '"' || end == 0) return std::nullopt;
    const std::string_view result = rest_.substr(1, end - 1);
    rest_.remove_prefix(end + 1);
    return result;
  }

 private:
  std::string_view rest_;
};

}  // namespace heddle::topology
