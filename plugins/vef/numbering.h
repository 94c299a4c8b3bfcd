/// What the ranks agree on before they write: which numbers messages, communicators and collectives have.
#pragma once

#include <cstdint>
#include <vector>

#include "ledger/story.h"
#include "ranks.h"
#include "recorder.h"

namespace heddle::vef {

struct Numbering {
  Numbers own;                                ///< of this rank's channels and communicators
  std::vector<std::uint64_t> first_messages;  ///< by rank: ID of the first one that it sends
  std::vector<std::uint64_t> communicators;   ///< by place in this rank: number in the file
  std::uint64_t messages = 0;                 ///< of all ranks
  std::uint64_t communicators_in_all = 0;
  std::uint64_t entered = 0;  ///< collectives, each member counted
};

/// Whether it has a line in the file: the world, and those with collectives.
[[nodiscard]] bool is_in_file(const Communicator& communicator);

/// Whether all ranks are well.
[[nodiscard]] bool number(const Recorder& recorder, Ranks& ranks, Numbering& numbering);

}  // namespace heddle::vef
