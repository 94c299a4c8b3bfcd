#include "notice/syslog.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

namespace heddle::notice {
namespace {

constexpr unsigned facility = 3;  ///< system daemons (RFC 5424, table 1)
constexpr std::string_view byte_order_mark = "\xef\xbb\xbf";
constexpr std::size_t most_host = 255;   ///< RFC 5424, 6
constexpr std::size_t most_value = 512;  ///< of one parameter, so that there is room for MSG in a datagram

/// PRINTUSASCII, or "-" (NILVALUE) for nothing.
std::string header_field(std::string_view text, std::size_t most) {
  std::string field{text.substr(0, most)};
  std::ranges::replace_if(
      field, [](char c) { return c < 33 || c > 126; }, '?');
  return field.empty() ? "-" : field;
}

/// RFC 5424, 6.3.3: '"', '\' and ']' are escaped in a value.
std::string parameter(std::string_view name, std::string_view value) {
  if (value.empty()) return {};
  std::string escaped;
  for (const char c : cut(value, most_value)) {
    if (c == '"' || c == '\\' || c == ']') escaped += '\\';
    escaped += c;
  }
  return fmt::format(" {}=\"{}\"", name, escaped);
}

}  // namespace

std::string syslog_message(const Notice& notice, const SyslogSource& source, std::size_t most) {
  std::string message =
      fmt::format("<{}>1 {} {} heddled {} {} [heddle@32473 id=\"{}\" what=\"{}\"",
                  facility * 8 + static_cast<unsigned>(severity(notice)), timestamp(notice.at),
                  header_field(source.teller.host, most_host), source.process,
                  header_field(notice.kind, most_kind), notice.id, to_string(notice.what));
  message += parameter("kind", notice.kind);
  message += parameter("fabric", source.teller.fabric);
  message += parameter("links", notice.links);
  if (is_problem(notice.what)) message += parameter("since", timestamp(notice.since));
  message += "] ";
  message += byte_order_mark;
  const std::size_t room = most > message.size() ? most - message.size() : 0;
  return message + cut(notice.text, room);
}

std::string framed(const std::string& message) { return fmt::format("{} {}", message.size(), message); }

}  // namespace heddle::notice
