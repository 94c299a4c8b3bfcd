/// Accepts the clients of one door. For the .cc files of the doors.
#pragma once

#include <boost/asio/error.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <memory>
#include <type_traits>
#include <utility>

#include "control/http_connection.h"

namespace heddle::control {

/// `Greet` makes a connection out of a socket, or drops it: void(Protocol::socket, std::shared_ptr<Door>).
template <class Protocol, class Greet>
class Listener : public HttpServer {
 public:
  Listener(boost::asio::io_context& io, typename Protocol::acceptor acceptor, std::shared_ptr<Door> door,
           Greet greet)
      : acceptor_{std::move(acceptor)}, pause_{io}, door_{std::move(door)}, greet_{std::move(greet)} {
    accept();
  }
  ~Listener() override {
    door_->stopped = true;
    *alive_ = false;
    boost::system::error_code ignored;
    acceptor_.close(ignored);
  }
  Listener(const Listener&) = delete;
  Listener& operator=(const Listener&) = delete;

  [[nodiscard]] unsigned short port() const override {
    if constexpr (requires(const typename Protocol::endpoint& end) { end.port(); }) {
      boost::system::error_code ignored;
      return acceptor_.local_endpoint(ignored).port();
    } else {
      return 0;
    }
  }

 private:
  void accept() {
    acceptor_.async_accept(
        [this, alive = alive_](boost::system::error_code wrong, typename Protocol::socket socket) {
          if (!*alive || wrong == boost::asio::error::operation_aborted) return;
          if (!wrong) greet_(std::move(socket), door_);
          // A client that is gone already is no reason to wait; no file descriptors left is.
          if (wrong && wrong != boost::asio::error::connection_aborted) return wait();
          accept();
        });
  }
  void wait() {
    pause_.expires_after(door_->limits.accept_pause);
    pause_.async_wait([this, alive = alive_](boost::system::error_code wrong) {
      if (!wrong && *alive) accept();
    });
  }

  typename Protocol::acceptor acceptor_;
  boost::asio::steady_timer pause_;
  std::shared_ptr<Door> door_;
  Greet greet_;
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

}  // namespace heddle::control
