#include "control/http.h"

#include <fmt/format.h>

#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>
#include <boost/json/value.hpp>

#include "base/printable.h"

namespace heddle::control {

Response text_response(std::string content_type, std::string body) {
  return {200, std::move(content_type), std::make_shared<const std::string>(std::move(body)), {}};
}

Response json_response(const boost::json::value& value) {
  return text_response("application/json", boost::json::serialize(value) + "\n");
}

Response wrong_method(const std::string& allowed) {
  Response response = error_response({ErrorCode::Invalid, "this path is asked with " + allowed});
  response.status = 405;
  response.headers.emplace_back("Allow", allowed);
  return response;
}

Response try_later(std::chrono::seconds after, std::string why) {
  Response response = error_response({ErrorCode::Unreachable, std::move(why)});
  response.headers.emplace_back("Retry-After", std::to_string(after.count()));
  return response;
}

Response error_response(const Error& error) {
  const auto status = [&]() -> unsigned {
    switch (error.code) {
      case ErrorCode::Invalid:
        return 400;
      case ErrorCode::Refused:
        return 403;
      case ErrorCode::NotFound:
        return 404;
      case ErrorCode::Conflict:
        return 409;
      case ErrorCode::Io:
        return 500;
      case ErrorCode::Unsupported:
        return 501;
      case ErrorCode::Unreachable:
        return 503;
    }
    return 500;
  }();
  // Much of it may be what was asked.
  const boost::json::object body{{"error", printable(error.message)}};
  return {status,
          "application/json",
          std::make_shared<const std::string>(boost::json::serialize(body) + "\n"),
          {}};
}

}  // namespace heddle::control
