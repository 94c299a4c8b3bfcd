/// Addresses of a name, asked in a thread that nobody waits for: getaddrinfo() takes as long as a resolver
/// that does not answer, and Asio's own resolver would keep the daemon from ending for as long.
#pragma once

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/address.hpp>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"

namespace heddle::notify {

using Addresses = std::vector<boost::asio::ip::address>;

/// A question under way; `done` is not called after its end. On the thread of `io`.
class Lookup {
 public:
  virtual ~Lookup() = default;
};

/// `done` is called later; at once for what is an address already. Errors: NotFound, Unreachable.
[[nodiscard]] std::unique_ptr<Lookup> look_up(boost::asio::io_context& io, const std::string& host,
                                              std::function<void(Result<Addresses>)> done);

}  // namespace heddle::notify
