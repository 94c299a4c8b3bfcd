/// How a file of the page is answered: its type, entity tag, how long it may be kept, and the policy that
/// lets the page load nothing but its own files and talk to nobody but this daemon.
#pragma once

#include <optional>
#include <span>
#include <string_view>

#include "control/http.h"
#include "web/assets.h"

namespace heddle::web {

/// No answer for a path that is none of the assets; "/" is "/index.html".
[[nodiscard]] std::optional<control::Response> asset_response(std::span<const Asset> assets,
                                                              const control::Request& request);
[[nodiscard]] std::string_view media_type(std::string_view path);
/// Whether a request's If-None-Match names this tag (RFC 9110, 13.1.2).
[[nodiscard]] bool client_has(const control::Request& request, std::string_view tag);

}  // namespace heddle::web
