#include "app/alarm.h"

#include <algorithm>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <utility>

namespace heddle::app {

Alarm::Alarm(boost::asio::io_context& io, const transport::Clock& clock, Ring ring)
    : clock_{clock}, timer_{io}, ring_{std::move(ring)} {}

Alarm::~Alarm() { *alive_ = false; }

void Alarm::set(std::optional<Instant> when) {
  if (when == when_) return;
  when_ = when;
  if (when) {
    arm(*when);
  } else {
    timer_.cancel();
  }
}

void Alarm::set_no_later(Instant when) {
  if (!when_ || when < *when_) set(when);
}

void Alarm::arm(Instant when) {
  // Beyond a day ahead the timer just looks again, so that no clock can make it overflow.
  constexpr double most_seconds = 86400;
  const double ahead = std::clamp(seconds(when - clock_.now()) / clock_.scale(), 0.0, most_seconds);
  timer_.expires_after(
      std::chrono::duration_cast<std::chrono::steady_clock::duration>(std::chrono::duration<double>{ahead}));
  timer_.async_wait([this, alive = alive_](const boost::system::error_code& wrong) {
    if (wrong || !*alive) return;
    // Behind what has come in meanwhile: an answer that is here is not late because somebody computed.
    boost::asio::post(timer_.get_executor(), [this, alive] {
      if (*alive) look();
    });
  });
}

void Alarm::look() {
  if (!when_) return;
  const Instant now = clock_.now();
  if (now < *when_) return arm(*when_);
  when_.reset();
  ring_(now);
}

}  // namespace heddle::app
