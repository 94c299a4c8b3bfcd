#include "web/asset_response.h"

#include <array>
#include <map>
#include <memory>
#include <string>
#include <utility>

#include "web/digest.h"

namespace heddle::web {
namespace {

constexpr std::string_view policy =
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/// One copy for all clients, however slowly they take it. The contents are there as long as the program.
std::shared_ptr<const std::string> shared_content(std::string_view content) {
  static std::map<const char*, std::shared_ptr<const std::string>> copies;
  auto& copy = copies[content.data()];
  if (!copy) copy = std::make_shared<const std::string>(content);
  return copy;
}

}  // namespace

std::string_view media_type(std::string_view path) {
  constexpr std::array types{std::pair{".html", "text/html; charset=utf-8"},
                             std::pair{".js", "text/javascript; charset=utf-8"},
                             std::pair{".css", "text/css; charset=utf-8"}, std::pair{".svg", "image/svg+xml"},
                             std::pair{".json", "application/json"}};
  for (const auto& [ending, type] : types) {
    if (path.ends_with(ending)) return type;
  }
  return "application/octet-stream";
}

bool client_has(const control::Request& request, std::string_view tag) {
  return request.if_none_match == "*" || request.if_none_match.find(tag) != std::string::npos;
}

std::optional<control::Response> asset_response(std::span<const Asset> assets,
                                                const control::Request& request) {
  const std::string_view path = request.path == "/" ? "/index.html" : std::string_view{request.path};
  for (const Asset& asset : assets) {
    if (asset.path != path) continue;
    const std::string tag = '"' + hex_digest(asset.content) + '"';
    control::Response response{200, std::string(media_type(path)), nullptr, nullptr};
    // Vite names the files below /assets by their content.
    const bool fixed = path.starts_with("/assets/");
    response.headers = {{"Content-Security-Policy", std::string(policy)},
                        {"Referrer-Policy", "no-referrer"},
                        {"ETag", tag},
                        {"Cache-Control", fixed ? "public, max-age=31536000, immutable" : "no-cache"}};
    if (client_has(request, tag)) {
      response.status = 304;
    } else {
      response.body = shared_content(asset.content);
    }
    return response;
  }
  return std::nullopt;
}

}  // namespace heddle::web
