#include "app/doors.h"

#include <boost/asio/post.hpp>
#include <utility>

namespace heddle::app {

namespace asio = boost::asio;

Doors::Doors(asio::io_context& daemon)
    : daemon_{daemon},
      answers_{[this](control::Lane lane, std::function<void()> job) {
                 asio::post(*makers_[static_cast<std::size_t>(lane)], std::move(job));
               },
               [this](std::function<void()> then) { asio::post(daemon_, std::move(then)); }} {}

Doors::~Doors() { close(); }

void Doors::handle_with(control::Handler handler) {
  crossing_ = std::make_unique<control::Crossing>(io_, daemon_, std::move(handler));
}

Result<void> Doors::serve(const Serve& serve) {
  auto server = serve(io_, crossing_->handler());
  if (!server) return fail(server.error());
  servers_.push_back(*std::move(server));
  return {};
}

void Doors::open() {
  thread_ = std::thread{[this] { io_.run(); }};
}

void Doors::close() {
  if (crossing_) crossing_->close();
  work_.reset();
  io_.stop();
  if (thread_.joinable()) thread_.join();
  // The thread is gone: what was its own is ours.
  servers_.clear();
  for (auto* maker : makers_) {
    maker->stop();
    maker->join();
  }
}

Result<control::TcpGuard::Secrets> read_secrets(const Config& config) {
  control::TcpGuard::Secrets secrets;
  if (!config.metrics.tokens_file.empty()) {
    auto tokens = control::Tokens::load(config.metrics.tokens_file);
    if (!tokens) return fail("metrics.tokens_file", tokens.error());
    secrets.tokens = std::make_shared<const control::Tokens>(*std::move(tokens));
  }
  if (!config.metrics.tls.cert_file.empty()) {
    auto tls = control::load_tls(config.metrics.tls);
    if (!tls) return fail(tls.error());
    secrets.tls = *std::move(tls);
  }
  return secrets;
}

std::vector<std::string> exposure(const Config& config) {
  const std::string& listen = config.metrics.listen;
  const bool loopback = listen.starts_with("127.") || listen.starts_with("[::1]:");
  if (listen.empty() || loopback || !config.metrics.tls.cert_file.empty()) return {};
  if (!config.metrics.tokens_file.empty()) {
    return {"metrics.listen " + listen +
            ": tokens cross the network in the clear: set metrics.tls.cert_file"};
  }
  return {"metrics.listen " + listen +
          ": whoever reaches this address can read the fabric's names and load: set metrics.tokens_file and "
          "metrics.tls, or listen on 127.0.0.1"};
}

}  // namespace heddle::app
