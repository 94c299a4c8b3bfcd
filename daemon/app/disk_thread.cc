#include "app/disk_thread.h"

#include <boost/asio/post.hpp>
#include <future>
#include <utility>

namespace heddle::app {

namespace asio = boost::asio;

DiskThread::DiskThread(asio::io_context& io, std::function<void()> after)
    : io_{io}, after_{std::move(after)} {}

// The pool's own end would leave out what it has not begun.
DiskThread::~DiskThread() { thread_.join(); }

void DiskThread::run(std::function<void()> work, std::function<void()> then) {
  asio::post(thread_, [this, work = std::move(work), then = std::move(then)]() mutable {
    work();
    asio::post(io_, [then = std::move(then), after = after_] {
      then();
      after();
    });
  });
}

void DiskThread::finish() {
  std::promise<void> done;
  asio::post(thread_, [&done] { done.set_value(); });
  done.get_future().wait();
}

Desk desk_at(DiskThread& disk, const transport::Clock& clock) {
  return {[&disk](std::function<void()> work, std::function<void()> then) {
            disk.run(std::move(work), std::move(then));
          },
          [&clock] { return clock.now(); }};
}

}  // namespace heddle::app
