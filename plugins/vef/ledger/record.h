/// What a rank writes down while the program runs: one record for each thing that it did.
///
/// Messages are not numbered yet. A message is the k-th one of its channel (communicator, sender, receiver,
/// tag), which sender and receiver know without asking each other: MPI delivers a channel's messages in the
/// order of sending to its receptions in the order of posting (MPI-3.1, 3.5).
#pragma once

#include <cstdint>

namespace heddle::vef {

enum class What : std::uint8_t {
  Send,         ///< `where`: channel of sending; `amount`: bytes
  Posted,       ///< a reception; `where`: channel of receiving, `nowhere` until it is known, and if it was
                ///< cancelled
  Received,     ///< `amount`: which of the posted ones, counted from 0; has ended
  ReceivedToo,  ///< by the same call as the record before
  Enter         ///< a collective; `where`: communicator, `amount`: bytes of each message that it is made of
};

inline constexpr std::uint32_t nowhere = ~std::uint32_t{0};

struct Record {
  What what = What::Send;
  std::uint8_t kind = 0;  ///< of a collective
  std::uint16_t unused = 0;
  std::uint32_t where = 0;
  std::uint32_t root = 0;  ///< of a collective: a rank of the world
  std::uint32_t unused_too = 0;
  std::uint64_t amount = 0;
  std::uint64_t at = 0;  ///< ns that the program computed until then; time in MPI does not count
};
static_assert(sizeof(Record) == 32);

/// In the order of heddle::trace::CollectiveKind, and with its names in a file.
enum class Collective : std::uint8_t {
  Barrier,
  Broadcast,
  Reduce,
  AllReduce,
  Gather,
  AllGather,
  Scatter,
  AllToAll
};
[[nodiscard]] const char* name_of(Collective kind);

}  // namespace heddle::vef
