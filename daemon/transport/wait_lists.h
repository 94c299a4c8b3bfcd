/// Transactions that wait for an answer or for their time to be sent again, in the order of their deadlines
/// without sorting: waits are rounded up to one of few lengths, a list each, and each list is in the order of
/// its deadlines.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "base/units.h"
#include "transport/transaction_slab.h"

namespace heddle::transport {

class WaitLists {
 public:
  using Duration = FabricClock::duration;

  /// Lengths double from `least` to 4 * `longest`; `longest` and 4 * `longest` are exact.
  WaitLists(Duration least, Duration longest);

  /// Sets the transaction's deadline: `time` after `now`, rounded up, and never before that of another in its
  /// list.
  void enter(TransactionSlab& slab, Slot slot, Duration time, Instant now);
  void leave(TransactionSlab& slab, Slot slot);
  /// Those that were sent last at `sent` were sent so much later.
  void postpone(TransactionSlab& slab, Instant sent, Duration by);
  /// One whose deadline has come, or no_slot.
  [[nodiscard]] Slot due(TransactionSlab& slab, Instant now) const;
  [[nodiscard]] std::optional<Instant> earliest(TransactionSlab& slab) const;

 private:
  static constexpr std::size_t most = 32;

  std::vector<Duration> lengths_;  ///< ascending, at most `most`
  std::array<TransactionList, most> lists_;
  std::uint32_t used_ = 0;  ///< bit i: list i is not empty
};

}  // namespace heddle::transport
