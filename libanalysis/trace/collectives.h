/// Collectives as point-to-point messages, by the usual algorithms (Thakur, Rabenseifner and Gropp, 2005).
///
/// Every member goes through rounds: it sends what its round says, then waits for what the round says it
/// receives.
#pragma once

#include <cstdint>
#include <vector>

#include "trace/vef.h"

namespace heddle::trace {

/// Positions of members in their communicator.
struct Round {
  std::vector<std::uint32_t> send;
  std::vector<std::uint32_t> receive;
};

/// Rounds of the member at `member`; all members have equally many.
/// Barrier: dissemination. Broadcast, reduce: binomial tree. Allreduce: recursive doubling, or reduce and
/// broadcast where members are no power of two. Gather, scatter: all with the root. Allgather: ring.
/// Alltoall: pairwise.
[[nodiscard]] std::vector<Round> rounds(CollectiveKind kind, std::uint32_t members, std::uint32_t root,
                                        std::uint32_t member);

}  // namespace heddle::trace
