#include "control/target.h"

#include <charconv>
#include <optional>

namespace heddle::control {
namespace {

enum class Plus : unsigned char { IsSpace, IsPlus };

std::optional<std::string> decode(std::string_view text, Plus plus) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '+' && plus == Plus::IsSpace) {
      out += ' ';
    } else if (text[i] != '%') {
      out += text[i];
    } else {
      unsigned byte = 0;
      if (i + 2 >= text.size()) return std::nullopt;
      const char* first = text.data() + i + 1;
      const auto [end, wrong] = std::from_chars(first, first + 2, byte, 16);
      if (wrong != std::errc{} || end != first + 2 || byte == 0) return std::nullopt;
      out += static_cast<char>(byte);
      i += 2;
    }
  }
  return out;
}

}  // namespace

Result<Target> parse_target(std::string_view target) {
  const auto bad = [] { return fail(ErrorCode::Invalid, "the request's target is not well formed"); };
  if (target.empty() || target.front() != '/' || target.find('\0') != std::string_view::npos) return bad();
  Target parsed;
  const auto question = target.find('?');
  const auto path = decode(target.substr(0, question), Plus::IsPlus);
  if (!path) return bad();
  parsed.path = *path;
  if (question == std::string_view::npos) return parsed;
  std::string_view rest = target.substr(question + 1);
  while (!rest.empty()) {
    const auto end = std::min(rest.find('&'), rest.size());
    const std::string_view pair = rest.substr(0, end);
    rest.remove_prefix(std::min(end + 1, rest.size()));
    const auto equals = std::min(pair.find('='), pair.size());
    const auto key = decode(pair.substr(0, equals), Plus::IsSpace);
    const auto value = decode(pair.substr(std::min(equals + 1, pair.size())), Plus::IsSpace);
    if (!key || !value) return bad();
    if (key->empty()) continue;
    const auto [it, first] = parsed.query.try_emplace(*key, *value);
    if (!first) it->second = key->ends_with("[]") ? it->second + ',' + *value : *value;
  }
  return parsed;
}

}  // namespace heddle::control
