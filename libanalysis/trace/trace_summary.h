/// A trace in a few numbers, and whether it can be replayed at all.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "trace/vef.h"

namespace heddle::trace {

struct PairTraffic {
  std::uint32_t source = 0;  ///< tasks
  std::uint32_t target = 0;
  std::uint64_t messages = 0;
  std::uint64_t bytes = 0;
};

struct TraceSummary {
  std::uint64_t messages = 0;  ///< point to point
  std::uint64_t bytes = 0;     ///< of these
  std::uint64_t largest = 0;   ///< of these, in bytes
  std::uint64_t triggers = 0;
  std::uint64_t idle_triggers = 0;               ///< marked, but no record waits for them
  std::array<std::uint64_t, 4> by_dependency{};  ///< steps, by Dependency
  std::array<std::uint64_t, 8> by_collective{};  ///< by CollectiveKind
  std::size_t pairs = 0;                         ///< of tasks that send to each other
  std::vector<PairTraffic> heaviest;             ///< by bytes, at most ten
  std::uint64_t messages_of_collectives = 0;     ///< that these are made of, in a replay
  std::uint64_t bytes_of_collectives = 0;
  std::optional<Tick> ticks_alone;  ///< a replay on a network that takes one tick; none if it never ends
  std::size_t stuck_line = 0;       ///< of the file: a record that nothing lets go on, if it never ends
};

[[nodiscard]] TraceSummary summarize(const Trace& trace);

}  // namespace heddle::trace
