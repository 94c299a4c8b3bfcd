#include "notify/destination.h"

#include <fmt/format.h>

#include <algorithm>

namespace heddle::notify {
namespace {

constexpr std::size_t longest_url = 2048;

bool is_plain(std::string_view text) {
  return std::ranges::all_of(text, [](char c) { return c > ' ' && c < 127; });
}

bool is_port_number(std::string_view text) {
  if (text.empty() || text.size() > 5) return false;
  if (!std::ranges::all_of(text, [](char c) { return c >= '0' && c <= '9'; })) return false;
  const int number = std::stoi(std::string{text});
  return number > 0 && number < 65536;
}

struct Authority {
  std::string host;
  std::string port;
};

/// "host:514", "[::1]:514"; without a port the given one, or none where that is empty.
Result<Authority> parse_authority(std::string_view text, std::string_view port) {
  const auto wrong = [] {
    return fail(ErrorCode::Invalid, "expected HOST:PORT, with an IPv6 address in []");
  };
  Authority found;
  if (text.starts_with('[')) {
    const auto end = text.find(']');
    if (end == std::string_view::npos) return wrong();
    found.host = text.substr(1, end - 1);
    text.remove_prefix(end + 1);
  } else {
    const auto end = std::min(text.find(':'), text.size());
    found.host = text.substr(0, end);
    text.remove_prefix(end);
  }
  if (!text.empty() && !text.starts_with(':')) return wrong();
  found.port = text.empty() ? port : text.substr(1);
  if (found.host.empty() || !is_port_number(found.port)) return wrong();
  return found;
}

}  // namespace

std::string_view to_string(Kind kind) {
  switch (kind) {
    case Kind::Alertmanager:
      return "alertmanager";
    case Kind::Webhook:
      return "webhook";
    case Kind::Syslog:
      return "syslog";
    case Kind::Program:
      return "program";
  }
  return "?";
}

std::string WebAddress::host_header() const {
  const bool usual = port == (tls ? "443" : "80");
  const std::string name = host.find(':') == std::string::npos ? host : fmt::format("[{}]", host);
  return usual ? name : fmt::format("{}:{}", name, port);
}

Result<WebAddress> parse_url(std::string_view url) {
  const auto wrong = [](const char* why) { return fail(ErrorCode::Invalid, why); };
  if (url.size() > longest_url || !is_plain(url)) {
    return wrong(
        "is no URL: it has blanks, control characters or others than ASCII, or more than 2048 of them");
  }
  WebAddress address;
  address.tls = url.starts_with("https://");
  if (!address.tls && !url.starts_with("http://")) return wrong("must begin with http:// or https://");
  url.remove_prefix(url.find("//") + 2);
  const auto end = std::min(url.find_first_of("/?#"), url.size());
  const std::string_view authority = url.substr(0, end);
  if (authority.find('@') != std::string_view::npos) {
    return fail(ErrorCode::Refused, "must have no name and password: credentials_file is for them");
  }
  auto parsed = parse_authority(authority, address.tls ? "443" : "80");
  if (!parsed) return fail(parsed.error());
  address.host = std::move(parsed->host);
  address.port = std::move(parsed->port);
  std::string_view target = url.substr(end);
  target = target.substr(0, target.find('#'));
  address.target = target.starts_with('/') ? std::string{target} : fmt::format("/{}", target);
  return address;
}

Result<SyslogAddress> parse_syslog(std::string_view address) {
  SyslogAddress parsed;
  if (address.starts_with('/')) {
    constexpr std::size_t longest_path = 107;  // sun_path of Linux, with its zero
    if (address.size() > longest_path)
      return fail(ErrorCode::Invalid, "is too long for the path of a socket");
    parsed.host = address;
    return parsed;
  }
  if (!address.starts_with("udp:") && !address.starts_with("tcp:")) {
    return fail(ErrorCode::Invalid, "must be /dev/log, udp:HOST:PORT or tcp:HOST:PORT");
  }
  parsed.way = address.starts_with("udp:") ? SyslogAddress::Way::Udp : SyslogAddress::Way::Tcp;
  auto authority = parse_authority(address.substr(4), "");
  if (!authority) return fail(authority.error());
  parsed.host = std::move(authority->host);
  parsed.port = std::move(authority->port);
  return parsed;
}

std::string described(const Destination& destination) {
  if (destination.kind != Kind::Syslog) return std::string{to_string(destination.kind)};
  return fmt::format("syslog {}", destination.address);
}

}  // namespace heddle::notify
