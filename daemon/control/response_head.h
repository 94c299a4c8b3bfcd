/// The head of an answer as text.
#pragma once

#include <string>

#include "control/http.h"

namespace heddle::control {

/// How the client knows where the body ends: its length, chunks, or the end of the connection.
enum class BodyKind : unsigned char { Whole, Chunked, UntilTheEnd };
enum class KeepAlive : unsigned char { No, Yes };

[[nodiscard]] std::string response_head(const Response& response, BodyKind kind, KeepAlive keep_alive);

}  // namespace heddle::control
