/// Tells a damaged plan file from a good one: FNV-1a with 64 bits (Fowler, Noll, Vo). Each step is one-to-one
/// in the value so far, so one changed byte always shows. Against damage, not against an enemy: who can write
/// the file may write any plan.
#pragma once

#include <cstdint>
#include <string_view>

namespace heddle::plan {

[[nodiscard]] constexpr std::uint64_t checksum(std::string_view text) {
  std::uint64_t value = 0xcbf29ce484222325ULL;
  for (const char c : text) {
    value ^= static_cast<unsigned char>(c);
    value *= 0x100000001b3ULL;
  }
  return value;
}

}  // namespace heddle::plan
