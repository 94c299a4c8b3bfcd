// Web hooks: a connection for each message, over TLS where the URL says so.

#include <fmt/format.h>
#include <openssl/ssl.h>

#include <boost/asio/post.hpp>
#include <boost/asio/ssl/context.hpp>
#include <boost/asio/ssl/host_name_verification.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/core/tcp_stream.hpp>
#include <boost/beast/http/empty_body.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/read.hpp>
#include <boost/beast/http/string_body.hpp>
#include <boost/beast/http/write.hpp>
#include <boost/beast/ssl/ssl_stream.hpp>
#include <utility>
#include <variant>

#include "notice/bodies.h"
#include "notify/resolve.h"
#include "notify/sender.h"

namespace heddle::notify {
namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = beast::http;
namespace ssl = asio::ssl;
using boost::system::error_code;

using Plain = beast::tcp_stream;
using Tls = beast::ssl_stream<beast::tcp_stream>;

constexpr std::uint32_t most_header = 16 * 1024;

/// Those answers that the same message will always get.
bool is_final(unsigned status) { return status == 400 || status == 413 || status == 415 || status == 422; }

Sent sent_by(unsigned status) {
  if (status >= 200 && status < 300) return {};
  std::string why = fmt::format("the receiver answers with HTTP status {}", status);
  if (status == 401 || status == 403) why += ": see token_file or credentials_file";
  if (status >= 300 && status < 400) why += ": give the address that it leads to";
  return {is_final(status) ? Sent::How::Refused : Sent::How::Failed, std::move(why)};
}

Sent failed_because(std::string why) { return {Sent::How::Failed, std::move(why)}; }

/// One message under way: look up, connect, shake hands, write, read the head of the answer. Goes on until
/// it is closed, or all is done.
class Exchange : public std::enable_shared_from_this<Exchange> {
 public:
  using Request = http::request<http::string_body>;

  Exchange(asio::io_context& io, ssl::context* tls, const WebAddress& address,
           std::chrono::milliseconds timeout, Request request, Sender::Done done)
      : io_{io}, address_{address}, timeout_{timeout}, request_{std::move(request)}, done_{std::move(done)} {
    if (tls != nullptr) {
      stream_.emplace<Tls>(io, *tls);
    } else {
      stream_.emplace<Plain>(io);
    }
    parser_.header_limit(most_header);
  }

  void begin() {
    timer_.expires_after(timeout_);
    timer_.async_wait([self = shared_from_this()](error_code wrong) {
      if (!wrong) self->end(failed_because("no answer within the timeout"));
    });
    auto lookup = look_up(io_, address_.host, [weak = weak_from_this()](Result<Addresses> found) {
      const auto self = weak.lock();
      if (!self || !self->done_) return;
      if (!found) return self->end(failed_because(found.error().message));
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
  Plain& socket() {
    if (auto* tls = std::get_if<Tls>(&stream_)) return tls->next_layer();
    return std::get<Plain>(stream_);
  }

  /// A handler of the next step, which says in its own words why there is none.
  template <class Then>
  auto then(const char* step, Then what) {
    return [self = shared_from_this(), step, what](error_code wrong, const auto&...) {
      if (!self->done_) return;
      if (wrong) return self->end(failed_because(fmt::format("{}: {}", step, wrong.message())));
      what(*self);
    };
  }

  void connect(const Addresses& addresses) {
    std::vector<asio::ip::tcp::endpoint> ends;
    const auto port = static_cast<std::uint16_t>(std::stoi(address_.port));
    for (const auto& address : addresses) ends.emplace_back(address, port);
    socket().async_connect(ends, then("cannot connect", [](Exchange& self) { self.connected(); }));
  }

  void connected() {
    auto* tls = std::get_if<Tls>(&stream_);
    if (tls == nullptr) return write();
    SSL* raw = tls->native_handle();
    SSL_set_tlsext_host_name(raw, address_.host.c_str());
    tls->set_verify_callback(ssl::host_name_verification(address_.host));
    tls->async_handshake(ssl::stream_base::client, then("TLS", [](Exchange& self) { self.write(); }));
  }

  void write() {
    std::visit(
        [this](auto& stream) {
          if constexpr (!std::is_same_v<std::decay_t<decltype(stream)>, std::monostate>) {
            http::async_write(stream, request_, then("cannot send", [](Exchange& self) { self.read(); }));
          }
        },
        stream_);
  }

  void read() {
    std::visit(
        [this](auto& stream) {
          if constexpr (!std::is_same_v<std::decay_t<decltype(stream)>, std::monostate>) {
            http::async_read_header(stream, buffer_, parser_, then("no answer", [](Exchange& self) {
                                      self.end(sent_by(self.parser_.get().result_int()));
                                    }));
          }
        },
        stream_);
  }

  void end(Sent sent) {
    if (!done_) return;
    const Sender::Done done = std::move(done_);
    close();
    done(std::move(sent));
  }

  asio::io_context& io_;
  WebAddress address_;
  std::chrono::milliseconds timeout_;
  Request request_;
  Sender::Done done_;
  asio::steady_timer timer_{io_};
  std::unique_ptr<Lookup> lookup_;
  std::variant<std::monostate, Plain, Tls> stream_;
  beast::flat_buffer buffer_{most_header};
  http::response_parser<http::empty_body> parser_;
};

class WebSender final : public Sender {
 public:
  WebSender(asio::io_context& io, const Destination& destination, WebAddress address,
            std::unique_ptr<ssl::context> tls, const notice::Teller& teller)
      : io_{io},
        kind_{destination.kind},
        authorization_{destination.authorization},
        timeout_{destination.timeout},
        address_{std::move(address)},
        tls_{std::move(tls)},
        teller_{teller} {
    if (kind_ != Kind::Alertmanager) return;
    while (address_.target.ends_with('/')) address_.target.pop_back();
    address_.target += "/api/v2/alerts";
  }
  ~WebSender() override {
    if (under_way_) under_way_->close();
  }
  WebSender(const WebSender&) = delete;
  WebSender& operator=(const WebSender&) = delete;

  void send(const Message& message, Done done) override {
    const auto now = std::chrono::floor<std::chrono::milliseconds>(std::chrono::system_clock::now());
    Exchange::Request request{http::verb::post, address_.target, 11};
    request.set(http::field::host, address_.host_header());
    request.set(http::field::user_agent, "heddled");
    request.set(http::field::content_type, "application/json");
    request.set(http::field::connection, "close");
    if (!authorization_.empty()) request.set(http::field::authorization, authorization_);
    request.body() = kind_ == Kind::Alertmanager
                         ? notice::alertmanager_body(message.notices, message.open, teller_, now)
                         : notice::json_body(message.notices, teller_, message.dropped);
    request.prepare_payload();
    under_way_ = std::make_shared<Exchange>(io_, tls_.get(), address_, timeout_, std::move(request),
                                            [this, done = std::move(done)](Sent sent) {
                                              under_way_.reset();
                                              done(std::move(sent));
                                            });
    // Later, whatever happens: who sends need not expect an answer while it asks.
    asio::post(io_, [exchange = under_way_] { exchange->begin(); });
  }

 private:
  asio::io_context& io_;
  Kind kind_;
  std::string authorization_;
  std::chrono::milliseconds timeout_;
  WebAddress address_;
  std::unique_ptr<ssl::context> tls_;
  notice::Teller teller_;
  std::shared_ptr<Exchange> under_way_;
};

Result<std::unique_ptr<ssl::context>> client_tls(const std::string& ca_file) {
  auto context = std::make_unique<ssl::context>(ssl::context::tls_client);
  SSL_CTX_set_min_proto_version(context->native_handle(), TLS1_2_VERSION);
  error_code wrong;
  context->set_verify_mode(ssl::verify_peer, wrong);
  if (ca_file.empty()) {
    context->set_default_verify_paths(wrong);
  } else {
    context->load_verify_file(ca_file, wrong);
  }
  if (wrong) return fail(ErrorCode::Io, fmt::format("ca_file {}: {}", ca_file, wrong.message()));
  return context;
}

}  // namespace

Result<std::unique_ptr<Sender>> web_sender(asio::io_context& io, const Destination& destination,
                                           const notice::Teller& teller) {
  auto address = parse_url(destination.url);
  if (!address) return fail("url", address.error());
  std::unique_ptr<ssl::context> tls;
  if (address->tls) {
    auto made = client_tls(destination.ca_file);
    if (!made) return fail(made.error());
    tls = *std::move(made);
  }
  return std::make_unique<WebSender>(io, destination, *std::move(address), std::move(tls), teller);
}

}  // namespace heddle::notify
