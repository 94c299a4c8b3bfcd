/// What libheddle-apm.so in a program and heddle-agent tell each other over a Unix socket (SOCK_SEQPACKET) of
/// their host: one of these structures a packet, both sides of one build of Heddle or of one with the same
/// number. Plain data, without anything else of ours: a library that strangers' programs are given includes
/// it.
#pragma once

#include <cstdint>

namespace heddle::apm::local {

inline constexpr std::uint32_t number = 1;  ///< of these structures' form
inline constexpr const char* default_socket = "/run/heddle-agent/agent.sock";

/// A port of this host: the kernel's name of the adapter, zero-terminated, and the port's number.
struct Port {
  char device[64] = {};
  std::uint32_t port = 0;
};

/// From the agent.
struct Command {
  enum Kind : std::uint32_t { Tell = 1, Arm = 2, Move = 3 };
  std::uint32_t form = number;
  std::uint32_t kind = Tell;
  Port port{};
  std::uint32_t plane = 0;
  std::uint64_t order = 0;
};

/// From the library, of one port: after each command for it, and whenever something has changed.
struct Report {
  std::uint32_t form = number;
  std::uint32_t moving = 0;  ///< connections that are on their way
  Port port{};
  std::uint32_t connections = 0;  ///< that can move
  std::uint64_t order = 0;        ///< the last order to move that was taken up
  std::uint32_t in_plane[2] = {};
  std::uint32_t armed = 0;
  std::uint32_t failed = 0;
  std::uint32_t unable = 0;
  std::uint32_t others = 0;
  std::uint32_t migrated = 0;           ///< events since the program's start: paths that were changed
  std::uint32_t failed_to_migrate = 0;  ///< events: paths that could not be
  char trouble[96] = {};                ///< of the first one that failed; zero-terminated unless full
};

static_assert(sizeof(Port) == 68 && sizeof(Command) == 88 && sizeof(Report) == 216);

}  // namespace heddle::apm::local
