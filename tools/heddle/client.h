/// Asks heddled: one HTTP request on its control socket, one JSON answer (docs/api.md).
#pragma once

#include <boost/json/value.hpp>
#include <string>
#include <utility>

#include "base/result.h"

namespace heddle::cli {

class Client {
 public:
  explicit Client(std::string socket) : socket_{std::move(socket)} {}

  /// `target` is a path with query, already encoded. Errors: Unreachable with what to do when nothing
  /// listens; the daemon's own sentence when it refuses.
  [[nodiscard]] Result<boost::json::value> get(const std::string& target) const;
  [[nodiscard]] Result<boost::json::value> post(const std::string& target,
                                                const boost::json::value& body) const;
  /// The answer's text as it is, for formats that are not JSON.
  [[nodiscard]] Result<std::string> get_text(const std::string& target) const;

 private:
  enum class Verb : unsigned char { Get, Post };
  [[nodiscard]] Result<std::string> ask(Verb verb, const std::string& target, const std::string& body) const;

  std::string socket_;
};

/// Percent-encodes one component of a query.
[[nodiscard]] std::string query_escape(const std::string& text);

}  // namespace heddle::cli
