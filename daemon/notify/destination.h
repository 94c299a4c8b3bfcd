/// Who is told, as configured ([[notify.destination]]), with the secrets that its files hold. Secrets are in
/// no text that is logged, shown or answered; neither is the path of a URL, which is one at some receivers.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace heddle::notify {

enum class Kind : std::uint8_t { Alertmanager, Webhook, Syslog, Program };
[[nodiscard]] std::string_view to_string(Kind kind);

/// A bit for each class of notices.
inline constexpr unsigned wants_events = 1;
inline constexpr unsigned wants_problems = 2;
/// Of the events, those of switches that are unused and needed again: for whoever can take their power away.
inline constexpr unsigned wants_switches = 4;

struct Destination {
  std::string name;  ///< of letters, digits, '-' and '_'; the key of what waits for it
  Kind kind = Kind::Webhook;
  unsigned wants = wants_events | wants_problems;
  std::chrono::milliseconds timeout{10'000};  ///< of one message, from its first byte to the answer
  std::chrono::milliseconds every{1'000};     ///< one message in so long, at most
  std::string url;                            ///< of a web hook; Alertmanager: without /api/v2/alerts
  std::string authorization;                  ///< the value of that header, or empty
  std::string ca_file;                        ///< empty: the authorities that this host trusts
  std::string address;                        ///< syslog: "/dev/log", "udp:host:514", "tcp:host:601"
  std::vector<std::string> program;           ///< path and arguments
};

struct WebAddress {
  bool tls = false;
  std::string host;
  std::string port;
  std::string target;  ///< path and query

  /// The value of a Host header.
  [[nodiscard]] std::string host_header() const;
};

/// Errors (Invalid) never repeat the text: it may be a secret. Refused: a name and password stand in it.
[[nodiscard]] Result<WebAddress> parse_url(std::string_view url);

struct SyslogAddress {
  enum class Way : std::uint8_t { Local, Udp, Tcp };
  Way way = Way::Local;
  std::string host;  ///< or the path of a local socket
  std::string port;
};
[[nodiscard]] Result<SyslogAddress> parse_syslog(std::string_view address);

/// What can be told of it to anybody: "syslog udp:192.0.2.1:514", "webhook".
[[nodiscard]] std::string described(const Destination& destination);

}  // namespace heddle::notify
