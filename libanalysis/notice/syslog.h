/// A notice as a message of syslog (RFC 5424), with what it is about as structured data.
#pragma once

#include <cstddef>
#include <string>

#include "notice/notice.h"

namespace heddle::notice {

/// What a datagram may have (RFC 5424, 6.1: receivers should take 2048), and a line over TCP.
inline constexpr std::size_t most_datagram = 2048;
inline constexpr std::size_t most_line = 8192;

struct SyslogSource {
  Teller teller;
  int process = 0;
};

/// At most `most` bytes: MSG is cut first. Without the frame that a transport needs.
///
///   <28>1 2026-11-23T02:31:07.250Z sm-1 heddled 812 lost-links [heddle@32473 id="17" what="began" ...]
///   BOM...
///
/// 32473 is the enterprise number that RFC 5612 keeps for documents: this project has none of its own.
[[nodiscard]] std::string syslog_message(const Notice& notice, const SyslogSource& source, std::size_t most);

/// The same for TCP: its length before it (RFC 6587, 3.4.1).
[[nodiscard]] std::string framed(const std::string& message);

}  // namespace heddle::notice
