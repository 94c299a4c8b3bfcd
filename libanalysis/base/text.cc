#include "base/text.h"

#include <fmt/format.h>

#include <iterator>

namespace heddle {

void append_formatted(std::string& text, fmt::string_view form, fmt::format_args parts) {
  fmt::vformat_to(std::back_inserter(text), form, parts);
}

}  // namespace heddle
