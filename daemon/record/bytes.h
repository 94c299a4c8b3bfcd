/// Values as bytes of a recording, and back: little-endian, texts with their length before them.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>

#include "base/units.h"

namespace heddle::record {

class Writer {
 public:
  template <class Number>
  requires std::is_integral_v<Number> Writer& number(Number value) {
    auto rest = static_cast<std::uint64_t>(value);
    for (std::size_t i = 0; i < sizeof value; ++i, rest >>= 8U)
      bytes_.push_back(static_cast<char>(rest & 0xffU));
    return *this;
  }
  Writer& text(std::string_view value) {
    number(static_cast<std::uint32_t>(value.size()));
    return raw(value);
  }
  Writer& raw(std::string_view value) {
    bytes_.append(value);
    return *this;
  }
  Writer& time(Instant value) { return number(value.time_since_epoch().count()); }
  Writer& span(FabricClock::duration value) { return number(value.count()); }

  [[nodiscard]] const std::string& bytes() const { return bytes_; }
  void clear() { bytes_.clear(); }

 private:
  std::string bytes_;
};

/// Reads what a Writer wrote. What is not there, or cannot be, reads as nothing, and good() is false from
/// then on.
class Reader {
 public:
  /// Of times and spans: what is added to one goes on being a time.
  static constexpr FabricClock::duration longest = std::chrono::years{100};

  explicit Reader(std::string_view bytes) : rest_{bytes} {}

  template <class Number>
  requires std::is_integral_v<Number>
  [[nodiscard]] Number number() {
    const std::string_view bytes = raw(sizeof(Number));
    std::uint64_t value = 0;
    for (std::size_t i = bytes.size(); i > 0; --i)
      value = value << 8U | static_cast<std::uint8_t>(bytes[i - 1]);
    return static_cast<Number>(value);
  }
  [[nodiscard]] std::string text() { return std::string{raw(number<std::uint32_t>())}; }
  [[nodiscard]] std::string_view raw(std::size_t size) {
    if (size > rest_.size()) {
      refuse();
      return {};
    }
    const std::string_view found = rest_.substr(0, size);
    rest_.remove_prefix(size);
    return found;
  }
  /// Of an enumeration whose values go from 0 to `last` without gaps, written as its number.
  template <class Enum>
  [[nodiscard]] Enum one_up_to(Enum last) {
    const auto value = number<std::uint8_t>();
    if (value <= static_cast<std::uint8_t>(last)) return static_cast<Enum>(value);
    refuse();
    return {};
  }
  [[nodiscard]] Instant time() { return Instant{span()}; }
  [[nodiscard]] FabricClock::duration span() {
    const FabricClock::duration value{number<FabricClock::rep>()};
    if (value >= -longest && value <= longest) return value;
    refuse();
    return {};
  }
  void refuse() {
    good_ = false;
    rest_ = {};
  }

  [[nodiscard]] bool good() const { return good_; }
  /// All of it was read, and nothing was missing.
  [[nodiscard]] bool at_end() const { return good_ && rest_.empty(); }

 private:
  std::string_view rest_;
  bool good_ = true;
};

}  // namespace heddle::record
