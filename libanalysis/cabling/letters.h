/// Devices are compared without regard to case: plans are typed by people.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>

namespace heddle::cabling {

/// ASCII only; other bytes stay.
[[nodiscard]] inline std::string in_small_letters(std::string_view text) {
  std::string small{text};
  std::transform(small.begin(), small.end(), small.begin(),
                 [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; });
  return small;
}

}  // namespace heddle::cabling
