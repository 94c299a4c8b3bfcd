/// VEF3 traces: messages that know what they depend on, to be replayed on any network (thesis, chapter 3).
/// VEF2 is read too. docs/packet-simulator.md has the format of the collective records, which the thesis
/// leaves open.
///
/// A tick is the trace's unit of time, `clock_ps` picoseconds. The records of one task keep the file's order.
/// What a record depends on is resolved while reading: positions in `messages` and `collectives`, not IDs.
#pragma once

#include <cstdint>
#include <istream>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace heddle::trace {

using Tick = std::uint64_t;

/// What a record can say at most.
inline constexpr Tick most_delta_ticks = Tick{1} << 60U;
inline constexpr std::uint64_t most_message_bytes = std::uint64_t{1} << 40U;

enum class Version : std::uint8_t { Vef2 = 2, Vef3 = 3 };

/// What a record waits for: the file's Dep without its trigger bit.
enum class Dependency : std::uint8_t {
  Independent = 0,
  AfterSend = 1,
  AfterReceive = 2,
  AfterCollective = 3
};

/// When a step may begin: `ticks` after what it depends on, or at tick `ticks` if it depends on nothing.
struct When {
  Dependency dependency = Dependency::Independent;
  Tick ticks = 0;
  std::uint32_t after = 0;  ///< position in messages or collectives
};

struct Message {
  std::uint64_t id = 0;
  std::uint32_t source = 0;  ///< tasks
  std::uint32_t target = 0;
  std::uint64_t bytes = 0;
  When when;
  bool trigger = false;  ///< some record of its receiver waits for it
};

enum class CollectiveKind : std::uint8_t {
  Barrier,
  Broadcast,
  Reduce,
  AllReduce,
  Gather,
  AllGather,
  Scatter,
  AllToAll
};
[[nodiscard]] std::string_view to_string(CollectiveKind kind);

struct Collective {
  std::uint64_t id = 0;
  CollectiveKind kind = CollectiveKind::Barrier;
  std::uint32_t communicator = 0;
  std::uint32_t root = 0;   ///< task
  std::uint64_t bytes = 0;  ///< of every message that it is made of
  bool together = false;    ///< one record lets all members enter (G), not one for each (L)
};

/// One step of a task's program: a message that it sends, or a collective that it enters.
struct Step {
  enum class Kind : std::uint8_t { Send, Enter };
  Kind kind = Kind::Send;
  std::uint32_t index = 0;  ///< in messages or collectives
  When when;
  std::size_t line = 0;  ///< of the file, for what is said about it
};

struct Trace {
  Version version = Version::Vef3;
  std::uint32_t tasks = 0;
  std::int64_t clock_ps = 1000;
  std::vector<std::vector<std::uint32_t>> communicators;
  std::vector<Message> messages;
  std::vector<Collective> collectives;
  std::vector<std::vector<Step>> program;  ///< by task, in order
};

/// `name` is what errors call the input. Errors: Invalid with name, line and field.
[[nodiscard]] Result<Trace> read_vef(std::istream& in, std::string_view name);
/// Also Io for a file that cannot be read.
[[nodiscard]] Result<Trace> read_vef_file(const std::string& path);

/// NAME.names of an on-chip trace: where its devices are.
struct Names {
  Tick tile_ticks = 1;               ///< between devices on one tile
  std::vector<std::string> kinds;    ///< by device, "L2Cache"
  std::vector<std::uint32_t> tiles;  ///< by device; those of kind DMA belong to interface 0
};
[[nodiscard]] Result<Names> read_names(std::istream& in, std::string_view name);

}  // namespace heddle::trace
