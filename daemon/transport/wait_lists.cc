#include "transport/wait_lists.h"

#include <algorithm>
#include <bit>

namespace heddle::transport {

WaitLists::WaitLists(Duration least, Duration longest) {
  for (Duration length = least; length < 4 * longest && lengths_.size() < most - 2; length *= 2) {
    lengths_.push_back(length);
  }
  lengths_.push_back(longest);
  lengths_.push_back(4 * longest);
  std::sort(lengths_.begin(), lengths_.end());
}

void WaitLists::enter(TransactionSlab& slab, Slot slot, Duration time, Instant now) {
  const auto length = std::lower_bound(lengths_.begin(), lengths_.end() - 1, time);
  const auto list = static_cast<std::size_t>(length - lengths_.begin());
  Transaction& transaction = slab[slot];
  TransactionList& others = lists_[list];
  transaction.deadline = now + *length;
  if (!others.empty()) transaction.deadline = std::max(transaction.deadline, slab[others.tail].deadline);
  transaction.list = static_cast<std::uint8_t>(list);
  others.push_back(slab, slot);
  used_ |= 1U << list;
}

void WaitLists::leave(TransactionSlab& slab, Slot slot) {
  const std::size_t list = slab[slot].list;
  lists_[list].remove(slab, slot);
  if (lists_[list].empty()) used_ &= ~(1U << list);
}

void WaitLists::postpone(TransactionSlab& slab, Instant sent, Duration by) {
  for (std::uint32_t left = used_; left != 0; left &= left - 1) {
    Slot slot = lists_[static_cast<std::size_t>(std::countr_zero(left))].tail;
    for (; slot != no_slot; slot = slab[slot].previous) {
      if (slab[slot].stage == Transaction::Stage::Busy) continue;  // asked again later, at worst
      if (slab[slot].last_sent != sent) break;
      slab[slot].last_sent += by;
      slab[slot].deadline += by;
    }
  }
}

Slot WaitLists::due(TransactionSlab& slab, Instant now) const {
  for (std::uint32_t left = used_; left != 0; left &= left - 1) {
    const Slot first = lists_[static_cast<std::size_t>(std::countr_zero(left))].head;
    if (slab[first].deadline <= now) return first;
  }
  return no_slot;
}

std::optional<Instant> WaitLists::earliest(TransactionSlab& slab) const {
  std::optional<Instant> result;
  for (std::uint32_t left = used_; left != 0; left &= left - 1) {
    const Instant deadline = slab[lists_[static_cast<std::size_t>(std::countr_zero(left))].head].deadline;
    if (!result || deadline < *result) result = deadline;
  }
  return result;
}

}  // namespace heddle::transport
