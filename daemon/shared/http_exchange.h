/// One POST and its answer, waited for: for threads that may. TLS where there is a context for it.
#pragma once

#include <boost/asio/ssl/context.hpp>
#include <chrono>
#include <string>

#include "base/result.h"
#include "notify/destination.h"

namespace heddle::shared {

struct HttpAnswer {
  unsigned status = 0;
  std::string body;
};

/// Errors: Unreachable, with the step that failed or took too long.
[[nodiscard]] Result<HttpAnswer> post(const notify::WebAddress& address, boost::asio::ssl::context* tls,
                                      const std::string& target, const std::string& body,
                                      std::chrono::milliseconds timeout);

}  // namespace heddle::shared
