#include "control/response_head.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/beast/http/status.hpp>

#include "control/shared_body.h"

namespace heddle::control {

std::string response_head(const Response& response, BodyKind kind, KeepAlive keep_alive) {
  const auto reason = boost::beast::http::obsolete_reason(boost::beast::http::int_to_status(response.status));
  std::string head = fmt::format("HTTP/1.1 {} {}\r\nServer: heddled\r\n", response.status,
                                 std::string_view{reason.data(), reason.size()});
  const auto field = [&](std::string_view name, std::string_view value) {
    head.append(name).append(": ").append(value).append("\r\n");
  };
  field("Content-Type", response.content_type);
  field("X-Content-Type-Options", "nosniff");
  const bool kept = std::ranges::any_of(response.headers,
                                        [](const auto& header) { return header.first == "Cache-Control"; });
  if (!kept) field("Cache-Control", "no-store");
  for (const auto& [name, value] : response.headers) field(name, value);
  if (keep_alive == KeepAlive::No) field("Connection", "close");
  if (kind == BodyKind::Chunked) field("Transfer-Encoding", "chunked");
  if (kind == BodyKind::Whole && response.status != 304) {
    const std::size_t own = response.body ? response.body->size() : 0;
    field("Content-Length", std::to_string(response.shared ? response.shared->bytes() : own));
  }
  return head += "\r\n";
}

}  // namespace heddle::control
