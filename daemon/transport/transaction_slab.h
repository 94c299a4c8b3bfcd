/// Where the transactions of an engine live: slots that never move, reused, linked into lists by their
/// numbers. Nothing is allocated per transaction once the slab has grown.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "mad/packet.h"
#include "transport/transactions.h"

namespace heddle::transport {

using Slot = std::uint32_t;
inline constexpr Slot no_slot = 0xffffffffU;

struct Transaction {
  enum class Stage : std::uint8_t {
    Free,
    Queued,      ///< in its agent's queue
    Sent,        ///< in a waiting list
    Busy,        ///< likewise, to be sent again
    Doomed,      ///< about to be completed without an answer
    Completing,  ///< in no list; its client is being called
  };

  Stage stage = Stage::Free;
  Patience patience = Patience::Normal;
  OnSilence on_silence = OnSilence::FailFast;
  Outcome doom = Outcome::AgentSilent;  ///< of a Doomed one
  std::uint8_t attempt = 0;
  std::uint8_t attempts = 1;
  std::uint8_t times_busy = 0;
  bool ever_sent = false;
  bool answered_wrongly = false;
  std::uint16_t generation = 0;
  std::uint8_t list = 0;  ///< the waiting list that holds a Sent or Busy one
  std::uint32_t agent = 0;
  Slot previous = no_slot;
  Slot next = no_slot;
  TransactionClient* client = nullptr;
  std::uint64_t context = 0;
  Instant first_sent;
  Instant last_sent;
  Instant deadline;
  mad::Packet packet;
};

class TransactionSlab {
 public:
  [[nodiscard]] Transaction& operator[](Slot slot) { return (*chunks_[slot / chunk])[slot % chunk]; }
  [[nodiscard]] std::size_t size() const { return chunks_.size() * chunk; }
  [[nodiscard]] std::size_t used() const { return used_; }

  /// no_slot when `limit` are in use.
  [[nodiscard]] Slot take(std::size_t limit) {
    if (used_ >= limit) return no_slot;
    if (free_ == no_slot) grow();
    const Slot slot = free_;
    free_ = (*this)[slot].next;
    ++used_;
    return slot;
  }

  void give_back(Slot slot) {
    Transaction& transaction = (*this)[slot];
    transaction.stage = Transaction::Stage::Free;
    transaction.next = free_;
    free_ = slot;
    --used_;
  }

 private:
  static constexpr std::size_t chunk = 64;
  using Chunk = std::array<Transaction, chunk>;

  void grow() {
    const auto base = static_cast<Slot>(size());
    chunks_.push_back(std::make_unique<Chunk>());
    for (std::size_t i = chunk; i-- > 0;) {
      (*chunks_.back())[i].next = free_;
      free_ = base + static_cast<Slot>(i);
    }
  }

  std::vector<std::unique_ptr<Chunk>> chunks_;
  Slot free_ = no_slot;
  std::size_t used_ = 0;
};

/// First in, first out, with removal from anywhere. A transaction is in one list at a time.
struct TransactionList {
  Slot head = no_slot;
  Slot tail = no_slot;

  [[nodiscard]] bool empty() const { return head == no_slot; }

  void push_back(TransactionSlab& slab, Slot slot) {
    Transaction& transaction = slab[slot];
    transaction.previous = tail;
    transaction.next = no_slot;
    (tail == no_slot ? head : slab[tail].next) = slot;
    tail = slot;
  }

  void remove(TransactionSlab& slab, Slot slot) {
    const Transaction& transaction = slab[slot];
    (transaction.previous == no_slot ? head : slab[transaction.previous].next) = transaction.next;
    (transaction.next == no_slot ? tail : slab[transaction.next].previous) = transaction.previous;
  }
};

}  // namespace heddle::transport
