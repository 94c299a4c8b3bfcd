/// Wakes a state machine when the fabric's clock reaches an instant: the one place where the daemon's
/// time-outs meet a real timer. On the io_context thread; destroying it ends it.
#pragma once

#include <boost/asio/steady_timer.hpp>
#include <functional>
#include <memory>
#include <optional>

#include "base/units.h"
#include "transport/transport.h"

namespace heddle::app {

class Alarm {
 public:
  using Ring = std::function<void(Instant now)>;

  Alarm(boost::asio::io_context& io, const transport::Clock& clock, Ring ring);
  ~Alarm();
  Alarm(const Alarm&) = delete;
  Alarm& operator=(const Alarm&) = delete;

  /// Rings once at `when`, or as soon as possible if that is past: what the io_context was given to do by
  /// then comes first. Takes the place of what was set before.
  void set(std::optional<Instant> when);
  /// As set(), but never later than what is set already.
  void set_no_later(Instant when);

 private:
  void arm(Instant when);
  void look();

  const transport::Clock& clock_;
  boost::asio::steady_timer timer_;
  Ring ring_;
  std::optional<Instant> when_;
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

}  // namespace heddle::app
