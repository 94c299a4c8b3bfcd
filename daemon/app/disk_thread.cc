#include "app/disk_thread.h"

#include <boost/asio/post.hpp>
#include <future>
#include <utility>

namespace heddle::app {

namespace asio = boost::asio;

// The pool's own end would leave out what it has not begun.
DiskThread::~DiskThread() { thread_.join(); }

void DiskThread::run(std::function<void()> work, std::function<void()> then) {
  asio::post(thread_, [this, work = std::move(work), then = std::move(then)]() mutable {
    work();
    asio::post(io_, std::move(then));
  });
}

void DiskThread::finish() {
  std::promise<void> done;
  asio::post(thread_, [&done] { done.set_value(); });
  done.get_future().wait();
}

Desk desk_at(DiskThread& disk, std::function<Instant()> now, Enter enter) {
  return {[&disk, enter = std::move(enter)](std::function<void()> work, std::function<void()> then) {
            disk.run(std::move(work), [enter, then = std::move(then)] { enter(then); });
          },
          std::move(now)};
}

}  // namespace heddle::app
