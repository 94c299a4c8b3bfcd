#include <fmt/format.h>
#include <grp.h>
#include <pwd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/local/stream_protocol.hpp>
#include <boost/asio/write.hpp>
#include <boost/beast/core/basic_stream.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http/chunk_encode.hpp>
#include <boost/beast/http/empty_body.hpp>
#include <boost/beast/http/message.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/read.hpp>
#include <boost/beast/http/serializer.hpp>
#include <boost/beast/http/span_body.hpp>
#include <boost/beast/http/string_body.hpp>
#include <boost/beast/http/write.hpp>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <optional>
#include <utility>
#include <vector>

#include "control/http.h"
#include "control/target.h"

namespace heddle::control {
namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = boost::beast::http;
using boost::system::error_code;
using Unix = asio::local::stream_protocol;
using Tcp = asio::ip::tcp;

/// What all connections of one server share. Outlives the server when a handler answers late.
struct Shared {
  Handler handler;
  HttpLimits limits;
  std::size_t open = 0;
  bool stopped = false;
};

/// One client; keeps itself alive while an operation is pending.
template <class Protocol>
class Connection : public std::enable_shared_from_this<Connection<Protocol>> {
 public:
  using Stream = beast::basic_stream<Protocol, asio::any_io_executor>;

  Connection(typename Protocol::socket socket, std::shared_ptr<Shared> shared, Access access)
      : stream_{std::move(socket)}, shared_{std::move(shared)}, access_{access} {
    ++shared_->open;
  }
  ~Connection() { --shared_->open; }
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  void read() {
    parser_.emplace();
    parser_->header_limit(16 * 1024);
    parser_->body_limit(shared_->limits.body_bytes);
    stream_.expires_after(shared_->limits.timeout);
    http::async_read(
        stream_, buffer_, *parser_,
        [self = this->shared_from_this()](error_code wrong, std::size_t) { self->on_read(wrong); });
  }

 private:
  void on_read(error_code wrong) {
    if (shared_->stopped || wrong == http::error::end_of_stream || wrong == beast::error::timeout)
      return close();
    if (wrong == http::error::body_limit || wrong == http::error::header_limit) {
      return finish(error_response({ErrorCode::Invalid, "the request is too large"}), false);
    }
    if (wrong.category() == http::make_error_code(http::error::bad_version).category()) {
      return finish(error_response({ErrorCode::Invalid, "not an HTTP request: " + wrong.message()}), false);
    }
    if (wrong) return close();
    auto message = parser_->release();
    const bool keep_alive = message.keep_alive();
    const bool post = message.method() == http::verb::post;
    if (!post && message.method() != http::verb::get) {
      return finish(error_response({ErrorCode::Invalid, "only GET and POST are understood"}), keep_alive);
    }
    const std::string_view raw{message.target().data(), message.target().size()};
    auto target = parse_target(raw);
    if (!target) return finish(error_response(target.error()), keep_alive);
    if (post && access_ != Access::Change) {
      return finish(
          error_response({ErrorCode::Refused,
                          "this client may read only: be root or in the daemon's group to change things"}),
          keep_alive);
    }
    const Request request{post,
                          std::move(target->path),
                          std::move(target->query),
                          std::move(message.body()),
                          access_,
                          std::string{message[http::field::if_none_match]}};
    // The handler may take its time; a request has its answer's deadline from here.
    stream_.expires_never();
    shared_->handler(request, [self = this->shared_from_this(), keep_alive](Response response) mutable {
      if (auto held = std::exchange(self, nullptr)) held->finish(std::move(response), keep_alive);
    });
  }

  void finish(Response response, bool keep_alive) {
    if (shared_->stopped) return close();
    response_ = std::move(response);
    keep_alive_ = keep_alive;
    if (response_.pieces) return begin_pieces();
    static const std::string nothing;
    const std::string& body = response_.body ? *response_.body : nothing;
    message_.emplace(static_cast<http::status>(response_.status), 11,
                     beast::span<const char>{body.data(), body.size()});
    set_fields(*message_);
    message_->content_length(body.size());
    stream_.expires_after(shared_->limits.timeout);
    http::async_write(stream_, *message_, [self = this->shared_from_this()](error_code wrong, std::size_t) {
      self->written(wrong);
    });
  }

  template <class Message>
  void set_fields(Message& message) const {
    message.set(http::field::server, "heddled");
    message.set(http::field::content_type, response_.content_type);
    message.set(http::field::cache_control, "no-store");
    message.set("X-Content-Type-Options", "nosniff");
    for (const auto& [name, value] : response_.headers) message.set(name, value);
    message.keep_alive(keep_alive_);
  }

  void written(error_code wrong) {
    if (wrong || !keep_alive_) return close();
    message_.reset();
    head_.reset();
    response_ = {};
    read();
  }

  void begin_pieces() {
    head_.emplace(http::response<http::empty_body>{static_cast<http::status>(response_.status), 11});
    set_fields(*head_);
    head_->chunked(true);
    head_writer_.emplace(*head_);
    stream_.expires_after(shared_->limits.timeout);
    http::async_write_header(stream_, *head_writer_,
                             [self = this->shared_from_this()](error_code wrong, std::size_t) {
                               if (wrong) return self->close();
                               self->next_piece();
                             });
  }

  void next_piece() {
    stream_.expires_never();
    response_.pieces([self = this->shared_from_this()](Piece piece) {
      if (self->shared_->stopped) return self->close();
      self->piece_ = std::move(piece);
      self->stream_.expires_after(self->shared_->limits.timeout);
      if (!self->piece_ || self->piece_->empty()) {
        asio::async_write(self->stream_, http::make_chunk_last(),
                          [self](error_code wrong, std::size_t) { self->written(wrong); });
      } else {
        asio::async_write(self->stream_, http::make_chunk(asio::buffer(*self->piece_)),
                          [self](error_code wrong, std::size_t) {
                            if (wrong) return self->close();
                            self->next_piece();
                          });
      }
    });
  }

  void close() {
    error_code ignored;
    stream_.socket().shutdown(Protocol::socket::shutdown_both, ignored);
    stream_.close();
  }

  Stream stream_;
  std::shared_ptr<Shared> shared_;
  Access access_;
  beast::flat_buffer buffer_;
  std::optional<http::request_parser<http::string_body>> parser_;
  bool keep_alive_ = false;
  Response response_;
  std::optional<http::response<http::span_body<const char>>> message_;
  std::optional<http::response<http::empty_body>> head_;  ///< of a body in pieces
  std::optional<http::response_serializer<http::empty_body>> head_writer_;
  Piece piece_;
};

/// Who may do what: everybody may read on TCP; a Unix socket's peer is looked up.
using Admission = std::function<std::optional<Access>(int socket)>;

template <class Protocol>
class Server : public HttpServer {
 public:
  Server(typename Protocol::acceptor acceptor, Handler handler, HttpLimits limits, Admission admission,
         std::string unlink_path)
      : acceptor_{std::move(acceptor)},
        shared_{std::make_shared<Shared>(Shared{std::move(handler), limits})},
        admission_{std::move(admission)},
        unlink_path_{std::move(unlink_path)} {
    accept();
  }
  ~Server() override {
    shared_->stopped = true;
    *alive_ = false;
    error_code ignored;
    acceptor_.close(ignored);
    if (!unlink_path_.empty()) unlink(unlink_path_.c_str());
  }
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  [[nodiscard]] unsigned short port() const override {
    if constexpr (std::is_same_v<Protocol, Tcp>) {
      error_code ignored;
      return acceptor_.local_endpoint(ignored).port();
    } else {
      return 0;
    }
  }

 private:
  void accept() {
    acceptor_.async_accept([this, alive = alive_](error_code wrong, typename Protocol::socket socket) {
      if (!*alive || wrong == asio::error::operation_aborted) return;
      if (!wrong && shared_->open < shared_->limits.connections) {
        if (const auto access = admission_(socket.native_handle())) {
          std::make_shared<Connection<Protocol>>(std::move(socket), shared_, *access)->read();
        }
      }
      accept();
    });
  }

  typename Protocol::acceptor acceptor_;
  std::shared_ptr<Shared> shared_;
  Admission admission_;
  std::string unlink_path_;
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

bool in_group(uid_t uid, gid_t primary, gid_t wanted) {
  if (primary == wanted) return true;
  std::vector<char> text(16384);
  passwd entry{};
  passwd* found = nullptr;
  if (getpwuid_r(uid, &entry, text.data(), text.size(), &found) != 0 || found == nullptr) return false;
  int count = 256;
  std::vector<gid_t> groups(static_cast<std::size_t>(count));
  if (getgrouplist(found->pw_name, primary, groups.data(), &count) < 0) return false;
  groups.resize(static_cast<std::size_t>(count));
  return std::find(groups.begin(), groups.end(), wanted) != groups.end();
}

std::optional<gid_t> group_id(const std::string& name) {
  std::vector<char> text(65536);
  group entry{};
  group* found = nullptr;
  if (name.empty() || getgrnam_r(name.c_str(), &entry, text.data(), text.size(), &found) != 0 ||
      found == nullptr) {
    return std::nullopt;
  }
  return found->gr_gid;
}

std::optional<Access> admit(int socket, std::optional<gid_t> group, bool others_may_read) {
  ucred peer{};
  socklen_t size = sizeof(peer);
  if (getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &peer, &size) != 0) return std::nullopt;
  if (peer.uid == 0 || peer.uid == geteuid()) return Access::Change;
  if (group && in_group(peer.uid, peer.gid, *group)) return Access::Change;
  if (others_may_read) return Access::Read;
  return std::nullopt;
}

}  // namespace

Result<std::unique_ptr<HttpServer>> serve_unix(asio::io_context& io, const UnixSocketRules& rules,
                                               Handler handler, HttpLimits limits) {
  const auto cannot = [&](const std::string& reason) {
    return fail(ErrorCode::Io, fmt::format("control.socket {}: {}", rules.path, reason));
  };
  if (rules.path.empty() || rules.path.size() >= sizeof(sockaddr_un::sun_path)) {
    return fail(ErrorCode::Invalid, fmt::format("control.socket {}: must have 1 to {} characters", rules.path,
                                                sizeof(sockaddr_un::sun_path) - 1));
  }
  error_code wrong;
  struct stat status {};
  if (lstat(rules.path.c_str(), &status) == 0) {
    if (!S_ISSOCK(status.st_mode)) return cannot("is there already, and is not a socket");
    Unix::socket probe{io};
    probe.connect(Unix::endpoint{rules.path}, wrong);
    if (!wrong) {
      return fail(ErrorCode::Conflict,
                  fmt::format("control.socket {}: another heddled listens on it", rules.path));
    }
    unlink(rules.path.c_str());
  }
  Unix::acceptor acceptor{io};
  acceptor.open(Unix{}, wrong);
  // Nobody gets in between bind and chmod.
  const mode_t old_mask = umask(0177);
  if (!wrong) acceptor.bind(Unix::endpoint{rules.path}, wrong);
  umask(old_mask);
  if (wrong) return cannot(wrong.message());
  const auto group = group_id(rules.group);
  if (group && geteuid() == 0 && chown(rules.path.c_str(), static_cast<uid_t>(-1), *group) != 0) {
    return cannot(std::strerror(errno));
  }
  if (chmod(rules.path.c_str(), rules.others_may_read ? 0666 : 0660) != 0)
    return cannot(std::strerror(errno));
  acceptor.listen(asio::socket_base::max_listen_connections, wrong);
  if (wrong) return cannot(wrong.message());
  return std::make_unique<Server<Unix>>(
      std::move(acceptor), std::move(handler), limits,
      [group, read = rules.others_may_read](int socket) { return admit(socket, group, read); }, rules.path);
}

Result<std::unique_ptr<HttpServer>> serve_tcp(asio::io_context& io, const std::string& address,
                                              Handler handler, HttpLimits limits) {
  const auto invalid = [&] {
    return fail(ErrorCode::Invalid,
                fmt::format("{}: expected an address and a port, as 127.0.0.1:9683 or [::1]:9683", address));
  };
  const auto colon = address.rfind(':');
  if (colon == std::string::npos) return invalid();
  std::string host = address.substr(0, colon);
  if (host.size() > 2 && host.front() == '[' && host.back() == ']') host = host.substr(1, host.size() - 2);
  unsigned short port = 0;
  const char* end = address.data() + address.size();
  if (const auto got = std::from_chars(address.data() + colon + 1, end, port);
      got.ec != std::errc{} || got.ptr != end) {
    return invalid();
  }
  error_code wrong;
  const auto parsed = asio::ip::make_address(host, wrong);
  if (wrong) return invalid();
  const Tcp::endpoint endpoint{parsed, port};
  Tcp::acceptor acceptor{io};
  acceptor.open(endpoint.protocol(), wrong);
  if (!wrong) acceptor.set_option(asio::socket_base::reuse_address{true}, wrong);
  if (!wrong) acceptor.bind(endpoint, wrong);
  if (!wrong) acceptor.listen(asio::socket_base::max_listen_connections, wrong);
  if (wrong) return fail(ErrorCode::Io, fmt::format("cannot listen on {}: {}", address, wrong.message()));
  return std::make_unique<Server<Tcp>>(
      std::move(acceptor), std::move(handler), limits, [](int) { return std::optional{Access::Read}; }, "");
}

}  // namespace heddle::control
