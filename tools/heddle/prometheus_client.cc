#include "heddle/prometheus_client.h"

#include <fmt/format.h>

#include <boost/asio/connect.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http/empty_body.hpp>
#include <boost/beast/http/message.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/read.hpp>
#include <boost/beast/http/string_body.hpp>
#include <boost/beast/http/write.hpp>
#include <boost/json/parse.hpp>
#include <chrono>
#include <limits>

#include "base/json_access.h"
#include "heddle/client.h"

namespace heddle::cli {

namespace http = boost::beast::http;
namespace asio = boost::asio;

Result<PrometheusClient> PrometheusClient::at(const std::string& url) {
  const auto invalid = [&] {
    return fail(ErrorCode::Invalid, fmt::format("{}: expected http://HOST:PORT of a Prometheus server", url));
  };
  constexpr std::string_view scheme = "http://";
  if (!url.starts_with(scheme)) return invalid();
  PrometheusClient client;
  std::string rest = url.substr(scheme.size());
  if (const auto slash = rest.find('/'); slash != std::string::npos) {
    client.prefix_ = rest.substr(slash);
    while (client.prefix_.ends_with('/')) client.prefix_.pop_back();
    rest.resize(slash);
  }
  const auto colon = rest.rfind(':');
  const bool has_port = colon != std::string::npos && rest.find(']', colon) == std::string::npos;
  client.port_ = has_port ? rest.substr(colon + 1) : "9090";
  client.host_ = has_port ? rest.substr(0, colon) : rest;
  if (client.host_.starts_with('[') && client.host_.ends_with(']'))
    client.host_ = client.host_.substr(1, client.host_.size() - 2);
  if (client.host_.empty() || client.port_.find_first_not_of("0123456789") != std::string::npos ||
      client.port_.empty())
    return invalid();
  return client;
}

Result<boost::json::array> PrometheusClient::ask(const std::string& target) const {
  const auto wrong_with = [&](const std::string& reason) {
    return fail(ErrorCode::Unreachable, fmt::format("Prometheus at {}:{}: {}", host_, port_, reason));
  };
  boost::system::error_code wrong;
  asio::io_context io;
  asio::ip::tcp::resolver resolver{io};
  const auto places = resolver.resolve(host_, port_, wrong);
  if (wrong) return wrong_with(wrong.message());
  asio::ip::tcp::socket socket{io};
  asio::connect(socket, places, wrong);
  if (wrong) return wrong_with(wrong.message());
  http::request<http::empty_body> request{http::verb::get, prefix_ + target, 11};
  request.set(http::field::host, host_);
  request.set(http::field::connection, "close");
  http::write(socket, request, wrong);
  if (wrong) return wrong_with(wrong.message());
  boost::beast::flat_buffer buffer;
  http::response_parser<http::string_body> response;
  response.body_limit(std::numeric_limits<std::uint64_t>::max());
  http::read(socket, buffer, response, wrong);
  if (wrong) return wrong_with(wrong.message());
  const auto answer = boost::json::parse(response.get().body(), wrong);
  if (wrong) return wrong_with("its answer is not JSON; is it a Prometheus server?");
  if (text_at(answer, "status") != "success") {
    const std::string error = text_at(answer, "error");
    return wrong_with(error.empty() ? fmt::format("HTTP status {}", response.get().result_int()) : error);
  }
  return array_at(answer, "data.result");
}

Result<boost::json::array> PrometheusClient::query(const std::string& expression) const {
  return ask("/api/v1/query?query=" + query_escape(expression));
}

Result<boost::json::array> PrometheusClient::range(const std::string& expression, double last,
                                                   double step) const {
  const auto end = std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
  return ask(fmt::format("/api/v1/query_range?query={}&start={:.3f}&end={:.3f}&step={:.3f}",
                         query_escape(expression), end - last, end, step));
}

}  // namespace heddle::cli
