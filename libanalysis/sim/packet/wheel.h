/// The calendar of the packet simulator: a timing wheel with one slot a cycle, a heap for what lies beyond
/// it.
///
/// Within one cycle events come out in the order in which they were pushed, wheel before heap, so that a run
/// is the same every time. Slots are chains of small blocks that are recycled last in, first out: pushing and
/// taking cost a few nanoseconds, and memory follows the number of pending events. Not thread-safe.
#pragma once

#include <array>
#include <bit>
#include <cassert>
#include <cstdint>
#include <queue>
#include <vector>

#include "sim/packet/huge.h"

namespace heddle::packet {

/// Instants of a run: cycles of its clock, whose length in picoseconds the configuration gives.
using Cycle = std::int64_t;
inline constexpr Cycle never = INT64_MAX;

enum class EventKind : std::uint8_t {
  Header,      ///< packet: header routed, at its input
  Central,     ///< packet: header in the central buffer
  Stored,      ///< packet: header in the output buffer
  Credit,      ///< pool: the first flit of a packet gives its room back
  WakeInput,   ///< input: may be free again
  WakeOutput,  ///< output: may be free again
  WakePort,    ///< port: may be able to send again
  LaneInput,   ///< input: one of its lanes ends a packet
  LaneOutput,  ///< output: likewise
  Deliver,     ///< packet: its last flit is at its host
  Generate,    ///< source: makes its next message
  Inject,      ///< message: reaches its source queue
  Lifetime,    ///< port: the head of a queue may have waited too long
};

struct Event {
  std::uint32_t word = 0;  ///< kind in the top 4 bits, number of the element in the others
  std::uint32_t data = 0;

  static constexpr std::uint32_t max_index = (1U << 28U) - 1;
  static Event of(EventKind kind, std::uint32_t index, std::uint32_t data = 0) {
    assert(index <= max_index);
    return {static_cast<std::uint32_t>(kind) << 28U | index, data};
  }
  [[nodiscard]] EventKind kind() const { return static_cast<EventKind>(word >> 28U); }
  [[nodiscard]] std::uint32_t index() const { return word & max_index; }
};

class Wheel {
 public:
  struct Ignore {
    void operator()(Event /*event*/) const {}
  };

  Wheel() { slots_.fill({none, none}); }

  [[nodiscard]] Cycle now() const { return now_; }
  [[nodiscard]] std::size_t pending() const { return in_slots_ + beyond_.size(); }

  /// Precondition: at >= now(). An event for the current cycle is taken by the drain() that is running, or
  /// the next.
  void push(Cycle at, Event event) {
    assert(at >= now_);
    if (at - now_ < slot_count) {
      push_slot(static_cast<std::size_t>(at) % slot_count, event);
    } else {
      beyond_.push({at, sequence_++, event});
    }
  }

  /// The earliest cycle that has an event, `never` if none.
  [[nodiscard]] Cycle next() const {
    const Cycle far = beyond_.empty() ? never : beyond_.top().at;
    if (in_slots_ == 0) return far;
    const auto start = static_cast<std::size_t>(now_) % slot_count;
    std::size_t word = start / 64;
    std::uint64_t bits = occupied_[word] & (~std::uint64_t{0} << (start % 64));
    while (bits == 0) {
      word = (word + 1) % words;
      bits = occupied_[word];
    }
    const std::size_t slot = word * 64 + static_cast<std::size_t>(std::countr_zero(bits));
    return now_ + static_cast<Cycle>((slot + slot_count - start) % slot_count);
  }

  /// Moves to `to`, which must not lie beyond next().
  void advance(Cycle to) {
    assert(to >= now_ && to <= next());
    now_ = to;
    while (!beyond_.empty() && beyond_.top().at - now_ < slot_count) {
      push_slot(static_cast<std::size_t>(beyond_.top().at) % slot_count, beyond_.top().event);
      beyond_.pop();
    }
  }

  /// Hands every event of the current cycle to `handle`. Before that most are shown to `early`, then to
  /// `soon`, some 30 and some 15 events ahead, so that what they need can be fetched from memory meanwhile.
  template <class Handle, class Early = Ignore, class Soon = Ignore>
  void drain(Handle&& handle, Early&& early = {}, Soon&& soon = {}) {
    Slot& slot = slots_[static_cast<std::size_t>(now_) % slot_count];
    while (slot.head != none) {
      const Block block = blocks_[slot.head];
      blocks_[slot.head].next = free_;
      free_ = slot.head;
      slot.head = block.next;
      if (slot.head == none) slot.tail = none;
      in_slots_ -= block.count;
      const std::uint32_t second = block.next == none ? none : blocks_[block.next].next;
      if (second == none) {
        for (std::uint32_t i = 0; i < block.count; ++i) handle(block.events[i]);
        continue;
      }
      // Only the last block of a chain is not full.
      if (blocks_[second].next != none) prefetch(blocks_[blocks_[second].next]);
      const std::uint32_t in_second = blocks_[second].count;
      for (std::uint32_t i = 0; i < block.count; ++i) {
        if (i < in_second) early(blocks_[second].events[i]);
        soon(blocks_[block.next].events[i]);
        handle(block.events[i]);
      }
    }
    const auto index = static_cast<std::size_t>(now_) % slot_count;
    occupied_[index / 64] &= ~(std::uint64_t{1} << (index % 64));
  }

 private:
  static constexpr std::int64_t slot_count = 2048;
  static constexpr std::size_t words = slot_count / 64;
  static constexpr std::uint32_t none = 0xffffffffU;

  struct alignas(cache_line) Block {
    std::array<Event, 15> events;
    std::uint32_t count = 0;
    std::uint32_t next = none;
  };
  struct Slot {
    std::uint32_t head;
    std::uint32_t tail;
  };
  struct Far {
    Cycle at;
    std::uint64_t sequence;
    Event event;
    bool operator<(const Far& other) const {
      return at != other.at ? at > other.at : sequence > other.sequence;
    }
  };

  void push_slot(std::size_t index, Event event) {
    Slot& slot = slots_[index];
    if (slot.tail == none || blocks_[slot.tail].count == 15) append(index, slot);
    Block& block = blocks_[slot.tail];
    block.events[block.count++] = event;
    ++in_slots_;
  }

  void append(std::size_t index, Slot& slot) {
    std::uint32_t fresh = free_;
    if (fresh == none) {
      fresh = static_cast<std::uint32_t>(blocks_.size());
      blocks_.emplace_back();
    } else {
      free_ = blocks_[fresh].next;
      if (free_ != none) prefetch(blocks_[free_]);  // for the next one
    }
    blocks_[fresh].count = 0;
    blocks_[fresh].next = none;
    if (slot.tail == none) {
      slot.head = fresh;
      occupied_[index / 64] |= std::uint64_t{1} << (index % 64);
    } else {
      blocks_[slot.tail].next = fresh;
    }
    slot.tail = fresh;
  }

  Cycle now_ = 0;
  std::size_t in_slots_ = 0;
  std::array<Slot, slot_count> slots_;
  std::array<std::uint64_t, words> occupied_{};
  Array<Block> blocks_;
  std::uint32_t free_ = none;
  std::priority_queue<Far> beyond_;
  std::uint64_t sequence_ = 0;
};

}  // namespace heddle::packet
