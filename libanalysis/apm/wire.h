/// Numbers in the order of the wire, and where things are in a message. Only for the .cc files of apm/.
#pragma once

#include <cstddef>
#include <cstdint>

#include "mad/packet.h"

namespace heddle::apm {

inline constexpr std::size_t oui_offset = 37;
inline constexpr std::size_t version_offset = 40;
inline constexpr std::size_t sequence_offset = 48;
inline constexpr std::size_t port_offset = 56;
inline constexpr std::size_t tag_offset = 64;
inline constexpr std::size_t tag_size = 16;
inline constexpr std::size_t body_offset = 80;
inline constexpr std::size_t message_end = 232;

template <class Number>
[[nodiscard]] Number load(const mad::Bytes& mad, std::size_t at) {
  std::uint64_t value = 0;
  for (std::size_t i = 0; i < sizeof(Number); ++i) value = value << 8U | mad[at + i];
  return static_cast<Number>(value);
}

template <class Number>
void store(Number number, mad::Bytes& mad, std::size_t at) {
  auto value = static_cast<std::uint64_t>(number);
  for (std::size_t i = sizeof(Number); i-- > 0; value >>= 8U) mad[at + i] = static_cast<std::uint8_t>(value);
}

}  // namespace heddle::apm
