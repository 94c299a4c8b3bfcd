/// Reads what web/vlq.h writes, for tests: the page's own reader is in TypeScript.
#pragma once

#include <gtest/gtest.h>

#include <string_view>

#include "web/picture.h"

namespace heddle::web {

inline std::uint64_t take_unsigned(std::string_view& text) {
  constexpr std::string_view digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::uint64_t value = 0;
  for (unsigned shift = 0; !text.empty(); shift += 5) {
    const std::uint64_t digit = digits.find(text.front());
    text.remove_prefix(1);
    value |= (digit & 31U) << shift;
    if (digit < 32) return value;
  }
  ADD_FAILURE() << "a number that is cut off";
  return 0;
}

inline void add_difference(Column& column, std::string_view text) {
  for (std::size_t index = 0; !text.empty();) {
    index += take_unsigned(text);
    const std::uint64_t code = take_unsigned(text);
    ASSERT_LT(index, column.size());
    column[index] += static_cast<std::int64_t>(code >> 1U) ^ -static_cast<std::int64_t>(code & 1U);
  }
}

}  // namespace heddle::web
