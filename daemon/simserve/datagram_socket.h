/// A non-blocking datagram socket, of Linux' abstract names or of UDP on loopback, and the addresses of both.
#pragma once

#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "base/result.h"

namespace heddle::simserve {

/// Where a datagram came from or goes to.
class PeerAddress {
 public:
  /// Abstract: "\0" + name + "\0", as umad2sim binds it. Names beyond what fits are cut off.
  static PeerAddress abstract(const std::string& name);
  static PeerAddress loopback(std::uint16_t port);

  [[nodiscard]] const sockaddr* get() const { return reinterpret_cast<const sockaddr*>(&storage_); }
  [[nodiscard]] sockaddr* get() { return reinterpret_cast<sockaddr*>(&storage_); }
  [[nodiscard]] socklen_t size() const { return size_; }
  [[nodiscard]] int family() const { return storage_.ss_family; }
  [[nodiscard]] std::string text() const;
  /// The same host at another port (UDP only).
  [[nodiscard]] PeerAddress at_port(std::uint16_t port) const;
  friend bool operator==(const PeerAddress& x, const PeerAddress& y);

  /// For recvfrom(): room for any address.
  socklen_t* reset_size() {
    size_ = sizeof storage_;
    return &size_;
  }

 private:
  sockaddr_storage storage_{};
  socklen_t size_ = 0;
};

class DatagramSocket {
 public:
  enum class Sent : std::uint8_t { Done, Full, PeerGone, Failed };

  /// Errors: Io, Conflict when the address is in use.
  static Result<DatagramSocket> bound_to(const PeerAddress& address);
  DatagramSocket(DatagramSocket&& other) noexcept;
  DatagramSocket& operator=(DatagramSocket&& other) noexcept;
  ~DatagramSocket();

  Result<void> connect(const PeerAddress& peer);
  [[nodiscard]] int fd() const { return fd_; }
  /// Its name is free. What is sent then fails, and nothing is received.
  void close();

  Sent send(std::span<const std::uint8_t> bytes);
  Sent send_to(std::span<const std::uint8_t> bytes, const PeerAddress& peer);
  /// The size of the datagram, more than the room means it was cut; nothing when none waits.
  [[nodiscard]] std::optional<std::size_t> receive(std::span<std::uint8_t> room);
  [[nodiscard]] std::optional<std::size_t> receive_from(std::span<std::uint8_t> room, PeerAddress& peer);

 private:
  explicit DatagramSocket(int fd) : fd_{fd} {}
  int fd_ = -1;
};

/// Whether somebody has this abstract name bound.
[[nodiscard]] bool is_bound(const PeerAddress& address);

}  // namespace heddle::simserve
