/// A thread that may wait for a disk, so that the daemon's does not have to: does what it is given, one thing
/// after the other. What was given before the end is done; the end waits for that.
#pragma once

#include <boost/asio/io_context.hpp>
#include <boost/asio/thread_pool.hpp>
#include <functional>

#include "base/desk.h"

namespace heddle::app {

class DiskThread {
 public:
  explicit DiskThread(boost::asio::io_context& io) : io_{io} {}
  ~DiskThread();
  DiskThread(const DiskThread&) = delete;
  DiskThread& operator=(const DiskThread&) = delete;

  /// Does `work` there, and then `then` on the daemon's thread, that of `io`, if that still runs.
  void run(std::function<void()> work, std::function<void()> then);
  /// Comes back when all is done that was given so far: for whoever takes away what it works on.
  void finish();

 private:
  boost::asio::io_context& io_;
  boost::asio::thread_pool thread_{1};
};

/// How what comes back reaches the daemon, within an event.
using Enter = std::function<void(const std::function<void()>&)>;

/// All must outlive whoever works there.
[[nodiscard]] Desk desk_at(DiskThread& disk, std::function<Instant()> now, Enter enter);

}  // namespace heddle::app
