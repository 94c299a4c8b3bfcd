/// The socket behind libibumad where that is ibsim's preloaded shim (libumad2sim). The shim writes to it with
/// a lock held that its own receiver needs, and blocks when ibsim's queue is full; ibsim in turn waits,
/// without reading, until its answer fits in ours. So both would wait for each other for ever: whoever sends
/// through the shim asks this socket first whether there is room.
///
/// Owns a duplicate of the descriptor. On the io_context thread.
#pragma once

#include <boost/asio/posix/stream_descriptor.hpp>
#include <functional>
#include <memory>

namespace heddle::transport {

class ShimSocket {
 public:
  /// Nothing where libibumad talks to the kernel, or the shim to a remote ibsim: UDP loses and never blocks.
  static std::unique_ptr<ShimSocket> find(boost::asio::io_context& io);
  ~ShimSocket();
  ShimSocket(const ShimSocket&) = delete;
  ShimSocket& operator=(const ShimSocket&) = delete;

  /// Whether the next write does not block.
  [[nodiscard]] bool has_room() const;
  /// Calls `then` once there may be room; one at a time.
  void wait_for_room(std::function<void()> then);

 private:
  ShimSocket(boost::asio::io_context& io, int fd);

  int fd_;
  boost::asio::posix::stream_descriptor waiter_;
};

}  // namespace heddle::transport
