/// Numbers as they go over the wire: the most significant byte first.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>

namespace heddle {

/// Precondition: all bytes of the number are there.
template <std::unsigned_integral Number>
[[nodiscard]] constexpr Number from_network(const std::uint8_t* bytes) {
  std::uint64_t value = 0;
  for (std::size_t i = 0; i < sizeof(Number); ++i) value = value << 8U | bytes[i];
  return static_cast<Number>(value);
}

template <std::unsigned_integral Number>
constexpr void to_network(Number number, std::uint8_t* bytes) {
  auto value = static_cast<std::uint64_t>(number);
  for (std::size_t i = sizeof(Number); i-- > 0; value >>= 8U) bytes[i] = static_cast<std::uint8_t>(value);
}

}  // namespace heddle
