/// What a request must be before anybody looks at what it asks for: RFC 9112 where two readings of one
/// message could differ, and who may ask at this door. Pure.
#pragma once

#include <boost/beast/http/fields.hpp>
#include <boost/beast/http/message.hpp>
#include <memory>
#include <optional>

#include "control/host_names.h"
#include "control/http.h"
#include "control/tcp_guard.h"

namespace heddle::control {

using RequestHead = boost::beast::http::request_header<boost::beast::http::fields>;

/// What holds at one door.
struct DoorRules {
  /// Null: any name will do. On a Unix socket there is nobody whom a browser could confuse.
  std::shared_ptr<const HostNames> hosts;
  /// Null: nobody needs a token.
  std::shared_ptr<const TcpGuard> guard;
};

/// The answer to a request that is not to be handled; the connection is to be closed after it, since what
/// follows the head was not read.
[[nodiscard]] std::optional<Response> refusal(const RequestHead& head, Access access, const DoorRules& rules);

/// Whether the answer may be compressed (RFC 9110, 12.5.3).
[[nodiscard]] bool takes_gzip(const RequestHead& head);
/// Rather than plain text, as Prometheus does: by the weights of the Accept header (RFC 9110, 12.5.1).
[[nodiscard]] bool takes_open_metrics(const RequestHead& head);

}  // namespace heddle::control
