#include "transport/port_mark.h"

#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <utility>

namespace heddle::transport {
namespace {

/// unix(7): an abstract address begins with a zero byte, and has no zero at its end.
std::pair<sockaddr_un, socklen_t> address_of(const std::string& port) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  const std::string name = "heddle/port/" + port;
  const std::size_t length = std::min(name.size(), sizeof(address.sun_path) - 1);
  std::memcpy(address.sun_path + 1, name.data(), length);
  return {address, static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + length)};
}

int datagram_socket() { return ::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0); }

}  // namespace

PortMark::PortMark(const std::string& port) : socket_{datagram_socket()} {
  const auto [address, length] = address_of(port);
  if (socket_ >= 0) (void)::bind(socket_, reinterpret_cast<const sockaddr*>(&address), length);
}

PortMark::~PortMark() {
  if (socket_ >= 0) ::close(socket_);
}

bool PortMark::is_there(const std::string& port) {
  const int asking = datagram_socket();
  if (asking < 0) return false;
  const auto [address, length] = address_of(port);
  const bool there = ::connect(asking, reinterpret_cast<const sockaddr*>(&address), length) == 0;
  ::close(asking);
  return there;
}

}  // namespace heddle::transport
