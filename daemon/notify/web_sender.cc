// Web hooks: a connection for each message, over TLS where the URL says so.

#include <fmt/format.h>
#include <openssl/ssl.h>

#include <boost/asio/ssl/context.hpp>
#include <utility>

#include "notice/bodies.h"
#include "notify/exchange.h"
#include "notify/sender.h"

namespace heddle::notify {
namespace {

namespace asio = boost::asio;
namespace ssl = asio::ssl;
using boost::system::error_code;

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

  void send(const Message& message, Done done) override {
    const auto now = std::chrono::floor<std::chrono::milliseconds>(std::chrono::system_clock::now());
    std::string body = kind_ == Kind::Alertmanager
                           ? notice::alertmanager_body(message.notices, message.open, teller_, now)
                           : notice::json_body(message.notices, teller_, message.dropped);
    under_way_ =
        exchange(io_, tls_.get(), address_, timeout_, {address_.target, std::move(body), authorization_},
                 [this, done = std::move(done)](const Result<WebAnswer>& answer) {
                   under_way_.reset();
                   done(answer ? sent_by(answer->status) : failed_because(answer.error().message));
                 });
  }

 private:
  asio::io_context& io_;
  Kind kind_;
  std::string authorization_;
  std::chrono::milliseconds timeout_;
  WebAddress address_;
  std::unique_ptr<ssl::context> tls_;
  notice::Teller teller_;
  std::unique_ptr<Exchange> under_way_;
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
