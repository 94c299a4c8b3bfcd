/// One HTTP request on a connection of its own, and its answer: over TLS where there is a context for it. The
/// only client of Beast in the daemon, which takes as long to compile as a module of ours. On the thread of
/// its io_context, which it never blocks.
#pragma once

#include <boost/asio/io_context.hpp>
#include <boost/asio/ssl/context.hpp>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "base/result.h"
#include "notify/destination.h"

namespace heddle::notify {

struct WebRequest {
  std::string target;
  std::string body;                          ///< JSON
  std::string authorization{};               ///< the value of that header, or empty
  std::optional<std::uint64_t> most_body{};  ///< bytes that the answer's may have; none: its head is enough
};

struct WebAnswer {
  unsigned status = 0;
  std::string body;
};

/// One under way. After its end nothing is called.
class Exchange {
 public:
  virtual ~Exchange() = default;
};

/// `done` is called once, later. Errors: Unreachable, with the step that failed.
[[nodiscard]] std::unique_ptr<Exchange> exchange(boost::asio::io_context& io, boost::asio::ssl::context* tls,
                                                 const WebAddress& address, std::chrono::milliseconds timeout,
                                                 const WebRequest& request,
                                                 std::function<void(Result<WebAnswer>)> done);

}  // namespace heddle::notify
