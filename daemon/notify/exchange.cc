#include "notify/exchange.h"

#include <fmt/format.h>
#include <openssl/ssl.h>

#include <boost/asio/post.hpp>
#include <boost/asio/ssl/host_name_verification.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/write.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/core/tcp_stream.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/string_body.hpp>
#include <boost/beast/ssl/ssl_stream.hpp>
#include <utility>
#include <vector>

#include "notify/resolve.h"

namespace heddle::notify {
namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = beast::http;
namespace ssl = asio::ssl;
using boost::system::error_code;

using Plain = beast::tcp_stream;
using Tls = beast::ssl_stream<beast::tcp_stream>;
using Done = std::function<void(Result<WebAnswer>)>;

constexpr std::uint32_t most_header = 16 * 1024;
constexpr std::size_t most_at_once = 64 * 1024;

std::string text_of(const WebAddress& address, const WebRequest& request) {
  std::string text = fmt::format(
      "POST {} HTTP/1.1\r\nHost: {}\r\nUser-Agent: heddled\r\nContent-Type: application/json\r\n"
      "Connection: close\r\nContent-Length: {}\r\n",
      request.target, address.host_header(), request.body.size());
  if (!request.authorization.empty()) text += fmt::format("Authorization: {}\r\n", request.authorization);
  return text + "\r\n" + request.body;
}

/// Look up, connect, shake hands, write, read. Goes on until it is closed, or all is done.
class Steps : public std::enable_shared_from_this<Steps> {
 public:
  Steps(asio::io_context& io, ssl::context* tls, WebAddress address, std::chrono::milliseconds timeout,
        const WebRequest& request, Done done)
      : io_{io},
        address_{std::move(address)},
        timeout_{timeout},
        request_{text_of(address_, request)},
        head_only_{!request.most_body},
        done_{std::move(done)} {
    if (tls != nullptr) {
      tls_.emplace(io, *tls);
    } else {
      plain_.emplace(io);
    }
    parser_.header_limit(most_header);
    parser_.body_limit(request.most_body ? boost::optional<std::uint64_t>{*request.most_body} : boost::none);
    parser_.eager(!head_only_);
  }

  void begin() {
    if (!done_) return;
    timer_.expires_after(timeout_);
    timer_.async_wait([self = shared_from_this()](error_code wrong) {
      if (!wrong) self->fail_with("no answer within the timeout");
    });
    auto lookup = look_up(io_, address_.host, [weak = weak_from_this()](Result<Addresses> found) {
      const auto self = weak.lock();
      if (!self || !self->done_) return;
      if (!found) return self->fail_with(found.error().message);
      self->connect(*found);
    });
    if (done_) lookup_ = std::move(lookup);
  }

  /// Nobody wants to know any more.
  void close() {
    done_ = nullptr;
    timer_.cancel();
    lookup_.reset();
    socket().close();
  }

 private:
  Plain& socket() { return tls_ ? tls_->next_layer() : *plain_; }

  template <class What>
  void on_stream(What what) {
    if (tls_) return what(*tls_);
    what(*plain_);
  }

  /// A handler of the next step, which says in its own words why there is none.
  auto then(const char* step, void (Steps::*next)()) {
    return [self = shared_from_this(), step, next](error_code wrong, const auto&...) {
      if (!self->done_) return;
      if (wrong) return self->fail_with(fmt::format("{}: {}", step, wrong.message()));
      ((*self).*next)();
    };
  }

  void connect(const Addresses& addresses) {
    std::vector<asio::ip::tcp::endpoint> ends;
    const auto port = static_cast<std::uint16_t>(std::stoi(address_.port));
    for (const auto& address : addresses) ends.emplace_back(address, port);
    socket().async_connect(ends, then("cannot connect", &Steps::connected));
  }

  void connected() {
    if (!tls_) return write();
    SSL_set_tlsext_host_name(tls_->native_handle(), address_.host.c_str());
    tls_->set_verify_callback(ssl::host_name_verification(address_.host));
    tls_->async_handshake(ssl::stream_base::client, then("TLS", &Steps::write));
  }

  void write() {
    on_stream([this](auto& stream) {
      asio::async_write(stream, asio::buffer(request_), then("cannot send", &Steps::read));
    });
  }

  void read() {
    on_stream([this](auto& stream) {
      stream.async_read_some(
          buffer_.prepare(most_at_once),
          [self = shared_from_this()](error_code wrong, std::size_t size) { self->arrived(wrong, size); });
    });
  }

  void arrived(error_code wrong, std::size_t size) {
    if (!done_) return;
    buffer_.commit(size);
    // An answer without a length goes to the end of the connection.
    if (wrong == asio::error::eof) {
      wrong = parser_.got_some() ? error_code{} : http::make_error_code(http::error::end_of_stream);
      if (!wrong) parser_.put_eof(wrong);
    } else if (!wrong) {
      wrong = parse();
    }
    if (wrong) return fail_with(fmt::format("no answer: {}", wrong.message()));
    if (!is_complete()) return read();
    end(WebAnswer{parser_.get().result_int(), std::move(parser_.get().body())});
  }

  error_code parse() {
    error_code wrong;
    while (!wrong && buffer_.size() > 0 && !is_complete()) {
      buffer_.consume(parser_.put(buffer_.data(), wrong));
    }
    return wrong == http::error::need_more ? error_code{} : wrong;
  }

  [[nodiscard]] bool is_complete() const { return head_only_ ? parser_.is_header_done() : parser_.is_done(); }

  void fail_with(std::string why) { end(fail(ErrorCode::Unreachable, std::move(why))); }

  void end(Result<WebAnswer> answer) {
    if (!done_) return;
    const Done done = std::move(done_);
    close();
    done(std::move(answer));
  }

  asio::io_context& io_;
  WebAddress address_;
  std::chrono::milliseconds timeout_;
  std::string request_;
  bool head_only_;
  Done done_;
  asio::steady_timer timer_{io_};
  std::unique_ptr<Lookup> lookup_;
  std::optional<Plain> plain_;  ///< or tls_
  std::optional<Tls> tls_;
  beast::flat_buffer buffer_;
  http::response_parser<http::string_body> parser_;
};

/// Who holds it wants to know; the steps keep themselves as long as one is under way.
class Handle final : public Exchange {
 public:
  explicit Handle(std::shared_ptr<Steps> steps) : steps_{std::move(steps)} {}
  ~Handle() override { steps_->close(); }
  Handle(const Handle&) = delete;
  Handle& operator=(const Handle&) = delete;

 private:
  std::shared_ptr<Steps> steps_;
};

}  // namespace

std::unique_ptr<Exchange> exchange(asio::io_context& io, ssl::context* tls, const WebAddress& address,
                                   std::chrono::milliseconds timeout, const WebRequest& request, Done done) {
  auto steps = std::make_shared<Steps>(io, tls, address, timeout, request, std::move(done));
  // Later, whatever happens: who asks need not expect an answer meanwhile.
  asio::post(io, [steps] { steps->begin(); });
  return std::make_unique<Handle>(std::move(steps));
}

}  // namespace heddle::notify
