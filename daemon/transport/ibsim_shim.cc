#include "transport/ibsim_shim.h"

#include <fmt/format.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <boost/asio/io_context.hpp>
#include <cstddef>
#include <cstdlib>
#include <string>
#include <string_view>

namespace heddle::transport {
namespace {

/// The shim's own descriptors for programs begin here; its sockets are below.
constexpr int first_virtual_fd = 1024;

/// As the shim names its packet socket: BASE:in<PID>, abstract.
std::string packet_socket_name() {
  const char* base = std::getenv("IBSIM_SOCKNAME");
  return fmt::format("{}:in{}", base != nullptr ? base : "sim", ::getpid());
}

bool is_named(int fd, std::string_view name) {
  sockaddr_un address{};
  socklen_t size = sizeof address;
  if (::getsockname(fd, reinterpret_cast<sockaddr*>(&address), &size) != 0) return false;
  constexpr std::size_t before = offsetof(sockaddr_un, sun_path) + 1;
  if (address.sun_family != AF_UNIX || size <= before || address.sun_path[0] != '\0') return false;
  std::string_view own{address.sun_path + 1, size - before};
  own = own.substr(0, own.find('\0'));
  return own == name;
}

}  // namespace

std::unique_ptr<ShimSocket> ShimSocket::find(boost::asio::io_context& io) {
  const std::string name = packet_socket_name();
  for (int fd = 0; fd < first_virtual_fd; ++fd) {
    if (!is_named(fd, name)) continue;
    const int own = ::dup(fd);
    if (own < 0) return nullptr;
    return std::unique_ptr<ShimSocket>{new ShimSocket(io, own)};
  }
  return nullptr;
}

ShimSocket::ShimSocket(boost::asio::io_context& io, int fd) : fd_{fd}, waiter_{io, fd} {}

ShimSocket::~ShimSocket() {
  waiter_.release();
  ::close(fd_);
}

bool ShimSocket::has_room() const {
  pollfd socket{.fd = fd_, .events = POLLOUT, .revents = 0};
  const timespec at_once{};
  // Not poll(): the shim puts its own in that one's place.
  return ::ppoll(&socket, 1, &at_once, nullptr) > 0;
}

void ShimSocket::wait_for_room(std::function<void()> then) {
  waiter_.async_wait(boost::asio::posix::stream_descriptor::wait_write,
                     [then = std::move(then)](const boost::system::error_code& wrong) {
                       if (!wrong) then();
                     });
}

}  // namespace heddle::transport
