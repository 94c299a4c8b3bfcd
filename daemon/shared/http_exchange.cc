#include "shared/http_exchange.h"

#include <fmt/format.h>
#include <openssl/ssl.h>

#include <boost/asio/io_context.hpp>
#include <boost/asio/ssl/host_name_verification.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/core/tcp_stream.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/read.hpp>
#include <boost/beast/http/string_body.hpp>
#include <boost/beast/http/write.hpp>
#include <boost/beast/ssl/ssl_stream.hpp>
#include <optional>
#include <utility>
#include <vector>

#include "notify/resolve.h"

namespace heddle::shared {
namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = beast::http;
namespace ssl = asio::ssl;
using boost::system::error_code;

/// More than all of a large fabric's journal.
constexpr std::uint64_t most_answer = std::uint64_t{256} << 20U;

/// Steps on an io_context of its own, each waited for, all by one deadline.
class Steps {
 public:
  explicit Steps(std::chrono::milliseconds timeout) : until_{std::chrono::steady_clock::now() + timeout} {}

  [[nodiscard]] asio::io_context& io() { return io_; }

  /// `start` gets the handler of an operation on `socket`.
  template <class Start>
  Result<void> step(const char* name, beast::tcp_stream& socket, Start start) {
    std::optional<error_code> outcome;
    start([&outcome](error_code wrong, const auto&...) { outcome = wrong; });
    wait_for(outcome);
    if (!outcome) {
      socket.close();
      io_.restart();
      io_.run();
      return fail(ErrorCode::Unreachable, fmt::format("{}: no answer in time", name));
    }
    if (*outcome) return fail(ErrorCode::Unreachable, fmt::format("{}: {}", name, outcome->message()));
    return {};
  }

  Result<std::vector<asio::ip::tcp::endpoint>> look_up(const notify::WebAddress& address) {
    std::optional<Result<notify::Addresses>> found;
    const auto lookup = notify::look_up(
        io_, address.host, [&found](Result<notify::Addresses> all) { found.emplace(std::move(all)); });
    wait_for(found);
    if (!found) return fail(ErrorCode::Unreachable, "its name was not looked up in time");
    if (!*found) return fail(ErrorCode::Unreachable, found->error().message);
    std::vector<asio::ip::tcp::endpoint> ends;
    for (const auto& each : **found)
      ends.emplace_back(each, static_cast<std::uint16_t>(std::stoi(address.port)));
    return ends;
  }

 private:
  template <class Value>
  void wait_for(const std::optional<Value>& value) {
    io_.restart();
    while (!value && io_.run_one_until(until_) > 0) {
    }
  }

  asio::io_context io_{1};
  std::chrono::steady_clock::time_point until_;
};

template <class Stream>
Result<HttpAnswer> converse(Steps& steps, Stream& stream, beast::tcp_stream& socket,
                            http::request<http::string_body>& request) {
  auto written =
      steps.step("sending", socket, [&](auto done) { http::async_write(stream, request, std::move(done)); });
  if (!written) return fail(written.error());
  beast::flat_buffer buffer;
  http::response_parser<http::string_body> parser;
  parser.body_limit(most_answer);
  auto read = steps.step("the answer", socket,
                         [&](auto done) { http::async_read(stream, buffer, parser, std::move(done)); });
  if (!read) return fail(read.error());
  return HttpAnswer{parser.get().result_int(), std::move(parser.get().body())};
}

}  // namespace

Result<HttpAnswer> post(const notify::WebAddress& address, ssl::context* tls, const std::string& target,
                        const std::string& body, std::chrono::milliseconds timeout) {
  http::request<http::string_body> request{http::verb::post, target, 11};
  request.set(http::field::host, address.host_header());
  request.set(http::field::content_type, "application/json");
  request.set(http::field::connection, "close");
  request.body() = body;
  request.prepare_payload();

  Steps steps{timeout};
  const auto ends = steps.look_up(address);
  if (!ends) return fail(ends.error());
  const auto connect = [&](beast::tcp_stream& socket) {
    return steps.step("connecting", socket, [&](auto done) { socket.async_connect(*ends, std::move(done)); });
  };
  if (tls == nullptr) {
    beast::tcp_stream stream{steps.io()};
    if (auto connected = connect(stream); !connected) return fail(connected.error());
    return converse(steps, stream, stream, request);
  }
  beast::ssl_stream<beast::tcp_stream> stream{steps.io(), *tls};
  beast::tcp_stream& socket = stream.next_layer();
  if (auto connected = connect(socket); !connected) return fail(connected.error());
  SSL_set_tlsext_host_name(stream.native_handle(), address.host.c_str());
  stream.set_verify_callback(ssl::host_name_verification(address.host));
  auto shaken = steps.step(
      "TLS", socket, [&](auto done) { stream.async_handshake(ssl::stream_base::client, std::move(done)); });
  if (!shaken) return fail(shaken.error());
  return converse(steps, stream, socket, request);
}

}  // namespace heddle::shared
