#include "core/options.h"

#include <fmt/format.h>

#include <algorithm>

namespace heddle::plugin {
namespace {

std::string_view cut(std::string_view& text, std::string_view separators) {
  const std::size_t end = std::min(text.find_first_of(separators), text.size());
  const std::string_view head = text.substr(0, end);
  text.remove_prefix(std::min(end + 1, text.size()));
  return head;
}

}  // namespace

Result<Options> parse_options(std::string_view text) {
  constexpr std::string_view prefix = "heddle-opensm:";
  Options options;
  while (!text.empty()) {
    std::string_view word = cut(text, " \t;");
    if (word.substr(0, prefix.size()) != prefix) continue;
    word.remove_prefix(prefix.size());
    while (!word.empty()) {
      std::string_view value = cut(word, ",");
      const std::string_view key = cut(value, "=");
      if (key == "plan") {
        options.plan = value;
      } else if (key == "socket") {
        options.socket = value;
      } else {
        return fail(ErrorCode::Invalid,
                    fmt::format("event_plugin_options: unknown key \"{}\"; there are plan and socket", key));
      }
    }
  }
  return options;
}

}  // namespace heddle::plugin
