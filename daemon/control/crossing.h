/// Between the thread of the doors, where clients are, and the daemon's, where sampling goes on: requests
/// cross one way and answers the other. Those who may change things cross at once. Those who may only read
/// take turns, one at a time, whoever has had least first, and together they get at most a quarter of the
/// daemon's thread: after a request has taken some processor time there, the next waits three times as long.
/// So whatever they ask, sampling goes on. On a host without idle processors, where the wait is not worth as
/// much, what is ready of the daemon's own work still has its turn before the next of them.
///
/// What belongs to one thread is touched and destroyed there only; what crosses is numbers and values.
#pragma once

#include <boost/asio/io_context.hpp>
#include <chrono>
#include <functional>
#include <memory>

#include "control/http.h"

namespace heddle::control {

struct CrossingLimits {
  /// How many times as long as a reader's request took the next one waits.
  unsigned rest = 3;
  /// Readers' requests that wait for their turn; beyond it whoever has most of them is told to ask again.
  std::size_t waiting = 512;
};

/// What the calling thread has had of a processor: on a busy host time passes for which no request is to
/// blame.
[[nodiscard]] std::chrono::steady_clock::duration processor_time();

class Crossing {
 public:
  /// `handler` runs on the daemon's thread. Both must outlive the crossing.
  /// `meter`: what requests are charged with, read before and after each.
  using Meter = std::function<std::chrono::steady_clock::duration()>;
  Crossing(boost::asio::io_context& doors, boost::asio::io_context& daemon, Handler handler,
           CrossingLimits limits = {}, Meter meter = processor_time);
  ~Crossing();
  Crossing(const Crossing&) = delete;
  Crossing& operator=(const Crossing&) = delete;

  /// For the servers, on the doors' thread; may outlive the crossing, and then answers nothing.
  [[nodiscard]] Handler handler();
  /// Nothing crosses from here on. On the daemon's thread, before the doors' thread is joined.
  void close();

 private:
  struct Doors;
  struct Inside;
  std::shared_ptr<Doors> doors_;
  std::shared_ptr<Inside> inside_;
};

}  // namespace heddle::control
