/// Tells systemd how the service is: ready, alive, what it does, stopping (sd_notify(3)). Does nothing when
/// systemd did not start it. On the io_context thread, so that a loop that hangs stops feeding the watchdog.
#pragma once

#include <boost/asio/steady_timer.hpp>
#include <string>

namespace heddle::app {

class ServiceNotifier {
 public:
  explicit ServiceNotifier(boost::asio::io_context& io);

  void ready();
  void reloading();
  void stopping();
  void status(const std::string& text);

 private:
  void feed_watchdog();

  boost::asio::steady_timer timer_;
  std::chrono::microseconds watchdog_{0};  ///< 0: none
};

}  // namespace heddle::app
