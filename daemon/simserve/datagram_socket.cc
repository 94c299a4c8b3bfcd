#include "simserve/datagram_socket.h"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <utility>

namespace heddle::simserve {
namespace {

DatagramSocket::Sent outcome(ssize_t result) {
  if (result >= 0) return DatagramSocket::Sent::Done;
  switch (errno) {
    case EAGAIN:
    case ENOBUFS:
      return DatagramSocket::Sent::Full;
    case ECONNREFUSED:
    case ENOTCONN:
    case ENOENT:
      return DatagramSocket::Sent::PeerGone;
    default:
      return DatagramSocket::Sent::Failed;
  }
}

}  // namespace

PeerAddress PeerAddress::abstract(const std::string& name) {
  PeerAddress address;
  sockaddr_un local{};
  local.sun_family = AF_UNIX;
  const std::size_t length = std::min(name.size(), sizeof local.sun_path - 2);
  std::copy_n(name.begin(), length, local.sun_path + 1);
  std::memcpy(&address.storage_, &local, sizeof local);
  address.size_ = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + length + 2);
  return address;
}

PeerAddress PeerAddress::loopback(std::uint16_t port) {
  PeerAddress address;
  sockaddr_in internet{};
  internet.sin_family = AF_INET;
  internet.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  internet.sin_port = htons(port);
  std::memcpy(&address.storage_, &internet, sizeof internet);
  address.size_ = sizeof internet;
  return address;
}

PeerAddress PeerAddress::at_port(std::uint16_t port) const {
  PeerAddress address = *this;
  reinterpret_cast<sockaddr_in*>(&address.storage_)->sin_port = htons(port);
  return address;
}

std::string PeerAddress::text() const {
  if (family() == AF_INET) {
    const auto* internet = reinterpret_cast<const sockaddr_in*>(&storage_);
    return fmt::format("udp port {}", ntohs(internet->sin_port));
  }
  const auto* local = reinterpret_cast<const sockaddr_un*>(&storage_);
  const std::size_t prefix = offsetof(sockaddr_un, sun_path) + 1;
  if (size_ <= prefix) return "an unnamed socket";
  const std::string name{local->sun_path + 1, size_ - prefix};
  return "@" + name.substr(0, name.find('\0'));
}

bool operator==(const PeerAddress& x, const PeerAddress& y) {
  return x.size_ == y.size_ && std::memcmp(&x.storage_, &y.storage_, x.size_) == 0;
}

Result<DatagramSocket> DatagramSocket::bound_to(const PeerAddress& address) {
  DatagramSocket socket{::socket(address.family(), SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0)};
  if (socket.fd_ < 0)
    return fail(ErrorCode::Io, fmt::format("cannot make a socket: {}", std::strerror(errno)));
  if (::bind(socket.fd_, address.get(), address.size()) != 0) {
    const bool taken = errno == EADDRINUSE;
    return fail(taken ? ErrorCode::Conflict : ErrorCode::Io,
                fmt::format("cannot bind {}: {}{}", address.text(), std::strerror(errno),
                            taken ? " (another simulator? choose another --name)" : ""));
  }
  return socket;
}

DatagramSocket::DatagramSocket(DatagramSocket&& other) noexcept : fd_{std::exchange(other.fd_, -1)} {}

DatagramSocket& DatagramSocket::operator=(DatagramSocket&& other) noexcept {
  std::swap(fd_, other.fd_);
  return *this;
}

DatagramSocket::~DatagramSocket() { close(); }

void DatagramSocket::close() {
  if (fd_ >= 0) ::close(std::exchange(fd_, -1));
}

Result<void> DatagramSocket::connect(const PeerAddress& peer) {
  if (::connect(fd_, peer.get(), peer.size()) == 0) return {};
  return fail(ErrorCode::Io, fmt::format("cannot connect to {}: {}", peer.text(), std::strerror(errno)));
}

DatagramSocket::Sent DatagramSocket::send(std::span<const std::uint8_t> bytes) {
  return outcome(::send(fd_, bytes.data(), bytes.size(), MSG_NOSIGNAL));
}

DatagramSocket::Sent DatagramSocket::send_to(std::span<const std::uint8_t> bytes, const PeerAddress& peer) {
  return outcome(::sendto(fd_, bytes.data(), bytes.size(), MSG_NOSIGNAL, peer.get(), peer.size()));
}

std::optional<std::size_t> DatagramSocket::receive(std::span<std::uint8_t> room) {
  PeerAddress unused;
  return receive_from(room, unused);
}

std::optional<std::size_t> DatagramSocket::receive_from(std::span<std::uint8_t> room, PeerAddress& peer) {
  const ssize_t size = ::recvfrom(fd_, room.data(), room.size(), MSG_TRUNC, peer.get(), peer.reset_size());
  if (size < 0) return std::nullopt;
  return static_cast<std::size_t>(size);
}

bool is_bound(const PeerAddress& address) {
  const int fd = ::socket(address.family(), SOCK_DGRAM | SOCK_CLOEXEC, 0);
  if (fd < 0) return true;
  // A socket that is connected elsewhere refuses with EPERM; one that is gone, with ECONNREFUSED.
  const bool gone = ::connect(fd, address.get(), address.size()) != 0 && errno == ECONNREFUSED;
  ::close(fd);
  return !gone;
}

}  // namespace heddle::simserve
