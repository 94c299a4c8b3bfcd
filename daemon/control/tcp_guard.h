/// What protects the TCP side, exchanged as a whole while it is open: connections under way go on with what
/// they began with, requests are asked for the tokens of the moment. Any thread.
#pragma once

#include <memory>
#include <mutex>
#include <utility>

#include "control/tls.h"
#include "control/tokens.h"

namespace heddle::control {

class TcpGuard {
 public:
  struct Secrets {
    std::shared_ptr<const Tokens> tokens;            ///< null: anybody may read
    std::shared_ptr<boost::asio::ssl::context> tls;  ///< null: in the clear
  };

  [[nodiscard]] Secrets secrets() const {
    const std::lock_guard lock{mutex_};
    return secrets_;
  }
  void set(Secrets secrets) {
    const std::lock_guard lock{mutex_};
    std::swap(secrets_, secrets);
  }

 private:
  mutable std::mutex mutex_;
  Secrets secrets_;
};

}  // namespace heddle::control
