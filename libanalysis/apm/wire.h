/// Where things are in a message. Only for the .cc files of apm/.
#pragma once

#include <cstddef>

namespace heddle::apm {

inline constexpr std::size_t oui_offset = 37;
inline constexpr std::size_t version_offset = 40;
inline constexpr std::size_t sequence_offset = 48;
inline constexpr std::size_t port_offset = 56;
inline constexpr std::size_t tag_offset = 64;
inline constexpr std::size_t tag_size = 16;
inline constexpr std::size_t body_offset = 80;
inline constexpr std::size_t message_end = 232;

}  // namespace heddle::apm
