#include "control/request_rules.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/beast/core/string.hpp>
#include <boost/beast/http/rfc7230.hpp>
#include <boost/beast/http/verb.hpp>
#include <charconv>
#include <iterator>
#include <string>

namespace heddle::control {
namespace {

namespace beast = boost::beast;
namespace http = boost::beast::http;

constexpr unsigned http_1_1 = 11;

Response refuse(unsigned status, std::string sentence) {
  Response response = error_response({ErrorCode::Invalid, std::move(sentence)});
  response.status = status;
  return response;
}

std::string name_of(http::field name) {
  const auto text = http::to_string(name);
  return {text.data(), text.size()};
}

std::ptrdiff_t count(const RequestHead& head, http::field name) {
  const auto [first, last] = head.equal_range(name);
  return std::distance(first, last);
}

std::optional<Response> wrong_method(const RequestHead& head) {
  switch (head.method()) {
    case http::verb::get:
    case http::verb::head:
    case http::verb::post:
      return std::nullopt;
    case http::verb::unknown:
      return refuse(501, "only GET, HEAD and POST are understood");
    default:
      break;
  }
  Response response = refuse(405, "only GET, HEAD and POST are understood");
  response.headers.emplace_back("Allow", "GET, HEAD, POST");
  return response;
}

/// RFC 9112, 3.2 and 6.1 to 6.3: what proxies and servers are known to read differently.
std::optional<Response> ambiguous(const RequestHead& head) {
  const auto hosts = count(head, http::field::host);
  if (hosts > 1 || (hosts == 0 && head.version() >= http_1_1)) {
    return refuse(400, "a request has one Host header");
  }
  const auto codings = count(head, http::field::transfer_encoding);
  const auto lengths = count(head, http::field::content_length);
  if (codings > 0 && (codings > 1 || lengths > 0 || head.version() < http_1_1 ||
                      !beast::iequals(head[http::field::transfer_encoding], "chunked"))) {
    return refuse(400, "the only transfer coding is chunked, and no Content-Length goes with it");
  }
  if (lengths > 1) return refuse(400, "a request has one Content-Length");
  for (const auto name : {http::field::origin, http::field::authorization}) {
    if (count(head, name) > 1) return refuse(400, fmt::format("a request has one {} header", name_of(name)));
  }
  return std::nullopt;
}

bool has_body(const RequestHead& head) {
  if (count(head, http::field::transfer_encoding) > 0) return true;
  const auto length = head[http::field::content_length];
  return !length.empty() && length != "0";
}

std::string_view view(beast::string_view text) { return {text.data(), text.size()}; }

bool same_word(std::string_view x, std::string_view y) {
  return beast::iequals(beast::string_view{x.data(), x.size()}, beast::string_view{y.data(), y.size()});
}

/// "0", "0.0" and so on: not acceptable.
bool is_zero(std::string_view weight) { return weight.find_first_not_of("0.") == std::string_view::npos; }

std::string_view trimmed(std::string_view text) {
  const auto first = text.find_first_not_of(" \t");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t") - first + 1);
}

/// What stands before the next `mark`, and takes both away.
std::string_view taken_to(std::string_view& text, char mark) {
  const auto end = std::min(text.find(mark), text.size());
  const std::string_view part = text.substr(0, end);
  text.remove_prefix(std::min(end + 1, text.size()));
  return trimmed(part);
}

/// The largest that `accept` gives this media type by its name; 0 where it is not named.
double weight_of(std::string_view accept, std::string_view type) {
  double most = 0;
  while (!accept.empty()) {
    std::string_view range = taken_to(accept, ',');
    const std::string_view name = taken_to(range, ';');
    double weight = 1;
    while (!range.empty()) {
      const std::string_view parameter = taken_to(range, ';');
      if (!same_word(parameter.substr(0, 2), "q=")) continue;
      const auto [end, wrong] =
          std::from_chars(parameter.data() + 2, parameter.data() + parameter.size(), weight);
      if (wrong != std::errc{}) weight = 0;
    }
    if (same_word(name, type)) most = std::max(most, weight);
  }
  return most;
}

}  // namespace

bool takes_gzip(const RequestHead& head) {
  for (const auto& coding : http::ext_list{head[http::field::accept_encoding]}) {
    if (!beast::iequals(coding.first, "gzip")) continue;
    for (const auto& parameter : coding.second) {
      if (beast::iequals(parameter.first, "q") && is_zero(view(parameter.second))) return false;
    }
    return true;
  }
  return false;
}

bool takes_open_metrics(const RequestHead& head) {
  const std::string_view accept = view(head[http::field::accept]);
  const double weight = weight_of(accept, "application/openmetrics-text");
  return weight > 0 && weight >= weight_of(accept, "text/plain");
}

std::optional<Response> refusal(const RequestHead& head, Access access, const DoorRules& rules) {
  if (auto answer = wrong_method(head)) return answer;
  if (auto answer = ambiguous(head)) return answer;
  if (rules.hosts) {
    const auto host = view(head[http::field::host]);
    if (!host.empty() && !rules.hosts->has(host)) {
      return refuse(403,
                    "this daemon is not known under the name in the Host header; control.hosts lists "
                    "names that it is");
    }
    const auto origin = view(head[http::field::origin]);
    if (!origin.empty() && !rules.hosts->has_origin(origin)) {
      return refuse(403, "pages of other hosts may not ask here (the Origin header)");
    }
  }
  if (rules.guard) {
    const auto tokens = rules.guard->secrets().tokens;
    if (tokens && !tokens->name_of(view(head[http::field::authorization]))) {
      Response answer = refuse(401, "this needs a token: Authorization: Bearer TOKEN (metrics.tokens_file)");
      answer.headers.emplace_back("WWW-Authenticate", "Bearer realm=\"heddled\"");
      return answer;
    }
  }
  if (access >= Access::Change) return std::nullopt;
  if (head.method() == http::verb::post) {
    return refuse(403, "this client may read only: be root or in the daemon's group to change things");
  }
  if (has_body(head)) return refuse(400, "who may only read sends no body");
  return std::nullopt;
}

}  // namespace heddle::control
