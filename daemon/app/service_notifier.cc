#include "app/service_notifier.h"

#include <systemd/sd-daemon.h>
#include <ctime>

#include <boost/asio/io_context.hpp>

namespace heddle::app {

ServiceNotifier::ServiceNotifier(boost::asio::io_context& io) : timer_{io} {
  std::uint64_t microseconds = 0;
  if (sd_watchdog_enabled(0, &microseconds) > 0) {
    watchdog_ = std::chrono::microseconds{microseconds};
    feed_watchdog();
  }
}

void ServiceNotifier::feed_watchdog() {
  sd_notify(0, "WATCHDOG=1");
  timer_.expires_after(watchdog_ / 3);
  timer_.async_wait([this](const boost::system::error_code& wrong) {
    if (!wrong) feed_watchdog();
  });
}

void ServiceNotifier::ready() { sd_notify(0, "READY=1"); }

void ServiceNotifier::reloading() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  sd_notifyf(0, "RELOADING=1\nMONOTONIC_USEC=%lld",
             static_cast<long long>(now.tv_sec) * 1'000'000 + now.tv_nsec / 1000);
}

void ServiceNotifier::stopping() { sd_notify(0, "STOPPING=1"); }

void ServiceNotifier::status(const std::string& text) { sd_notifyf(0, "STATUS=%s", text.c_str()); }

}  // namespace heddle::app
