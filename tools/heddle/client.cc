#include "heddle/client.h"

#include <fmt/format.h>

#include <boost/asio/io_context.hpp>
#include <boost/asio/local/stream_protocol.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http/message.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/read.hpp>
#include <boost/beast/http/string_body.hpp>
#include <boost/beast/http/write.hpp>
#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>
#include <limits>

namespace heddle::cli {
namespace {

namespace http = boost::beast::http;
using Socket = boost::asio::local::stream_protocol::socket;

ErrorCode kind_of(unsigned status) {
  constexpr unsigned not_found = 404;
  constexpr unsigned not_implemented = 501;
  if (status == not_found) return ErrorCode::NotFound;
  return status == not_implemented ? ErrorCode::Unsupported : ErrorCode::Refused;
}

/// The daemon's own words, from {"error": "..."}.
std::string sentence(const std::string& body, unsigned status) {
  boost::system::error_code wrong;
  const auto value = boost::json::parse(body, wrong);
  if (!wrong && value.is_object()) {
    if (const auto* error = value.get_object().if_contains("error"); error != nullptr && error->is_string()) {
      return std::string(error->get_string());
    }
  }
  return fmt::format("heddled answered with HTTP status {}", status);
}

Result<boost::json::value> parsed(const Result<std::string>& text) {
  if (!text) return fail(text.error());
  boost::system::error_code wrong;
  auto value = boost::json::parse(*text, wrong);
  if (wrong) return fail(ErrorCode::Unreachable, "heddled's answer is not JSON: " + wrong.message());
  return value;
}

}  // namespace

Result<std::string> Client::ask(Verb verb, const std::string& target, const std::string& body) const {
  boost::system::error_code wrong;
  boost::asio::io_context io;
  Socket socket{io};
  if (socket_.size() >= sizeof(sockaddr_un::sun_path)) {
    return fail(ErrorCode::Invalid, fmt::format("the socket path {} is too long", socket_));
  }
  socket.connect(Socket::endpoint_type{socket_}, wrong);
  if (wrong) {
    return fail(
        ErrorCode::Unreachable,
        fmt::format("cannot reach heddled at {}: {}. Is it running ('systemctl status heddled'), and are "
                    "you root or in the group heddle? --socket names another one.",
                    socket_, wrong.message()));
  }
  http::request<http::string_body> request{verb == Verb::Post ? http::verb::post : http::verb::get, target,
                                           11};
  request.set(http::field::host, "heddle");
  request.set(http::field::connection, "close");
  if (verb == Verb::Post) {
    request.set(http::field::content_type, "application/json");
    request.body() = body;
  }
  request.prepare_payload();
  http::write(socket, request, wrong);
  if (wrong) return fail(ErrorCode::Unreachable, fmt::format("cannot ask heddled: {}", wrong.message()));

  boost::beast::flat_buffer buffer;
  http::response_parser<http::string_body> response;
  response.body_limit(std::numeric_limits<std::uint64_t>::max());
  http::read(socket, buffer, response, wrong);
  if (wrong)
    return fail(ErrorCode::Unreachable, fmt::format("heddled broke off its answer: {}", wrong.message()));
  if (response.get().result() != http::status::ok) {
    return fail(kind_of(response.get().result_int()),
                sentence(response.get().body(), response.get().result_int()));
  }
  return std::move(response.get().body());
}

Result<std::string> Client::get_text(const std::string& target) const { return ask(Verb::Get, target, {}); }

Result<boost::json::value> Client::get(const std::string& target) const {
  return parsed(ask(Verb::Get, target, {}));
}

Result<boost::json::value> Client::post(const std::string& target, const boost::json::value& body) const {
  return parsed(ask(Verb::Post, target, boost::json::serialize(body)));
}

std::string query_escape(const std::string& text) {
  std::string out;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    const bool plain = (byte >= '0' && byte <= '9') || (byte >= 'A' && byte <= 'Z') ||
                       (byte >= 'a' && byte <= 'z') || c == '-' || c == '_' || c == '.' || c == '~';
    if (plain) {
      out += c;
    } else {
      out += fmt::format("%{:02X}", byte);
    }
  }
  return out;
}

}  // namespace heddle::cli
