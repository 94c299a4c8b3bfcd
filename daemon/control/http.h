/// A small HTTP/1.1 server on a Unix socket or TCP, for the control API, the metrics and the page. It knows
/// nothing of what it serves. Everything runs on the thread of the io_context that it is given; a handler
/// that computes for long answers later. Bounds: connections, what is kept of a request and of answers, time,
/// so that no client can hold the daemon up (docs/security.md).
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
#include "control/host_names.h"
#include "control/visitors.h"

namespace heddle::control {

/// Each may do what those before it may.
enum class Access : unsigned char {
  Read,
  Change,
  Root,  ///< what may destroy the work of another subnet manager
};

struct Request {
  bool post = false;                         ///< else GET or HEAD, which are handled alike
  std::string path;                          ///< decoded, without the query
  std::map<std::string, std::string> query;  ///< decoded
  std::string body;
  Access access = Access::Read;  ///< what this client may do
  std::string if_none_match{};   ///< the header of this name: entity tags that the client has
  Peer peer{};                   ///< who asks: a user or an address
  bool takes_gzip = false;
  bool takes_open_metrics = false;  ///< rather than plain text
};

/// Part of a body; many clients may be sent the same one.
using Piece = std::shared_ptr<const std::string>;
using NextPiece = std::function<void(Piece piece)>;
/// A body in pieces, for one too large to hold at once or without end: asked for a piece, it calls `next`
/// with it later, on the io_context thread and never from within; null or an empty piece is the end.
/// Dropping `next` without a call closes the connection.
using Pieces = std::function<void(NextPiece next)>;

class SharedBody;
class TcpGuard;

struct Response {
  unsigned status = 200;
  std::string content_type = "application/json";
  std::shared_ptr<const std::string> body;
  Pieces pieces;  ///< in place of `body`
  /// Besides those that every answer has; a Cache-Control here is in place of "no-store".
  std::vector<std::pair<std::string, std::string>> headers{};
  std::shared_ptr<const SharedBody> shared{};  ///< in place of `body`
};

/// Ready-made answers.
/// 405 for a path that is asked in another way: `allowed` as "GET, HEAD".
[[nodiscard]] Response wrong_method(const std::string& allowed);
/// 503 with the seconds after which it is worth asking again.
[[nodiscard]] Response try_later(std::chrono::seconds after, std::string why);
[[nodiscard]] Response text_response(std::string content_type, std::string body);
[[nodiscard]] Response json_response(const boost::json::value& value);
[[nodiscard]] Response error_response(const Error& error);

/// Must be called once, on the io_context thread; after the client is gone it does nothing.
using Respond = std::function<void(Response)>;
using Handler = std::function<void(const Request&, Respond)>;

struct HttpLimits {
  /// Of those who may only read, and as many again that are kept for those who may change things.
  std::size_t connections = 256;
  std::size_t per_peer = 128;  ///< of one address or one user
  std::size_t head_bytes = 16U << 10U;
  std::size_t body_bytes = 1U << 20U;  ///< only of those who may change things
  /// Of answers larger than a slice that are each made for one client who may only read.
  std::size_t own_answer_bytes = 16U << 20U;
  std::chrono::milliseconds head_time{
      5'000};  ///< from its first byte; on a connection that is new, from there
  std::chrono::milliseconds idle_time{30'000};      ///< between an answer and the next request
  std::chrono::milliseconds progress_time{30'000};  ///< for each slice of an answer, and for a body
  std::chrono::milliseconds accept_pause{100};      ///< when there are no file descriptors left
};
/// What is written at a time, and what progress is measured by.
inline constexpr std::size_t slice_bytes = 64U << 10U;

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
struct TcpRules {
  std::string address;  ///< "127.0.0.1:9683", "[::1]:0"
  /// Null: any name will do.
  std::shared_ptr<const HostNames> hosts{};
  /// Null: in the clear, and for anybody.
  std::shared_ptr<const TcpGuard> guard{};
};

/// Whether a Unix socket can have this path. Errors: Invalid.
[[nodiscard]] Result<void> check_socket_path(const std::string& path);
/// Whether it is one that serve_tcp() takes. Errors: Invalid.
[[nodiscard]] Result<void> check_tcp_address(const std::string& address);
/// Clients may read only. Errors: Invalid address, Io with the reason.
[[nodiscard]] Result<std::unique_ptr<HttpServer>> serve_tcp(boost::asio::io_context& io,
                                                            const TcpRules& rules, Handler handler,
                                                            HttpLimits limits = {});

}  // namespace heddle::control
