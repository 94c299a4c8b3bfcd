/// What recorder.cc wrote: the records of all processes of a directory, merged by their one clock; and what a
/// test did to the fabric meanwhile, each command with the times between which it took effect.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace wire {

/// Nanoseconds of CLOCK_MONOTONIC.
using Time = std::uint64_t;

inline constexpr std::size_t block_bytes = 64;
using Bytes = std::array<std::uint8_t, block_bytes>;

enum class Kind : std::uint8_t { Sent = 1, Received = 2, ControlSent = 3, ControlReceived = 4, Unsent = 5 };

struct Record {
  Time time = 0;
  Kind kind = Kind::Sent;
  int process = 0;  ///< dense, by file
  std::vector<std::uint8_t> bytes;
};

/// The header of a MAD and what an SMP carries (IBA 13.4.3, 14.2.1).
struct Mad {
  std::uint8_t mgmt_class = 0;
  std::uint8_t method = 0;
  std::uint16_t status = 0;
  std::uint32_t tid = 0;  ///< the lower half: the upper one is the shim's
  std::uint16_t attribute = 0;
  std::uint32_t modifier = 0;
  std::uint16_t dlid = 0;
  bool timed_out = false;  ///< a request that came back unanswered
  bool has_lids = false;   ///< a directed route that begins or ends with a part by LID
  Bytes data{};
  std::vector<std::uint8_t> route;  ///< ports to leave by
};

[[nodiscard]] bool is_smp(const Record& record);
[[nodiscard]] Mad parse(const Record& record);

struct Recordings {
  std::vector<Record> records;
  std::vector<std::string> processes;
};

/// Throws std::runtime_error where there is none, or one is damaged before its last record.
[[nodiscard]] Recordings read_recordings(const std::string& directory);

struct Command {
  Time begin = 0;
  Time end = 0;
  std::string what;  ///< cut, mend, kill, revive, lose, forced, unforced
  std::string node;
  int port = 0;
};

/// Lines `BEGIN END WHAT PORT NODE`, times in nanoseconds.
[[nodiscard]] std::vector<Command> read_commands(const std::string& path);

}  // namespace wire
