/// A small HTTP/1.1 server on a Unix socket or TCP, for the control API, the metrics and the page. It knows
/// nothing of what it serves. Everything runs on the daemon's io_context thread; a handler that computes for
/// long answers later. Bounds: connections, header and body sizes, time per request, so that no client can
/// hold the daemon up.
#pragma once

#include <boost/asio/io_context.hpp>
#include <boost/json/fwd.hpp>
#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"

namespace heddle::control {

enum class Access : unsigned char { Read, Change };

struct Request {
  bool post = false;
  std::string path;                          ///< decoded, without the query
  std::map<std::string, std::string> query;  ///< decoded
  std::string body;
  Access access = Access::Read;  ///< what this client may do
  std::string if_none_match{};   ///< the header of this name: entity tags that the client has
};

/// Part of a body; many clients may be sent the same one.
using Piece = std::shared_ptr<const std::string>;
using NextPiece = std::function<void(Piece piece)>;
/// A body in pieces, for one too large to hold at once or without end: asked for a piece, it calls `next`
/// with it later, on the io_context thread and never from within; null or an empty piece is the end.
/// Dropping `next` without a call closes the connection.
using Pieces = std::function<void(NextPiece next)>;

struct Response {
  unsigned status = 200;
  std::string content_type = "application/json";
  std::shared_ptr<const std::string> body;
  Pieces pieces;  ///< in place of `body`
  /// Besides those that every answer has; a Cache-Control here is in place of "no-store".
  std::vector<std::pair<std::string, std::string>> headers{};
};

/// Ready-made answers.
[[nodiscard]] Response text_response(std::string content_type, std::string body);
[[nodiscard]] Response json_response(const boost::json::value& value);
[[nodiscard]] Response error_response(const Error& error);

/// Must be called once, on the io_context thread; after the client is gone it does nothing.
using Respond = std::function<void(Response)>;
using Handler = std::function<void(const Request&, Respond)>;

struct HttpLimits {
  std::size_t connections = 256;
  std::size_t body_bytes = 1U << 20U;
  std::chrono::seconds timeout{30};
};

/// Listens until it is destroyed; open connections are closed then.
class HttpServer {
 public:
  virtual ~HttpServer() = default;
  /// Of a TCP server, for one that was asked to listen on port 0.
  [[nodiscard]] virtual unsigned short port() const = 0;
};

struct UnixSocketRules {
  std::string path;
  std::string group;             ///< besides root and the daemon's own user, its members may change things
  bool others_may_read = false;  ///< everybody else may ask
};

/// Takes over a socket file that nobody listens on. Errors: Conflict when another daemon does, Io with the
/// path.
[[nodiscard]] Result<std::unique_ptr<HttpServer>> serve_unix(boost::asio::io_context& io,
                                                             const UnixSocketRules& rules, Handler handler,
                                                             HttpLimits limits = {});
/// "127.0.0.1:9683", "[::1]:0". Clients may read only. Errors: Invalid address, Io with the reason.
[[nodiscard]] Result<std::unique_ptr<HttpServer>> serve_tcp(boost::asio::io_context& io,
                                                            const std::string& address, Handler handler,
                                                            HttpLimits limits = {});

}  // namespace heddle::control
