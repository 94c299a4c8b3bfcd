/// What is due when: a time-ordered queue of small events. Equal times keep the order in which they were
/// added, so that a run repeats exactly.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <vector>

#include "base/units.h"

namespace heddle::sim {

struct Event {
  enum class Kind : std::uint8_t { Trained, TrapRepeat, Packet, Flap, LeaseExpired, SampleStart, SampleEnd };
  Picoseconds at{0};
  std::uint64_t order = 0;
  Kind kind = Kind::Trained;
  std::uint32_t subject = 0;  ///< link, trap, parcel, flap or port
  std::uint32_t epoch = 0;    ///< void if the subject has moved on since
};

class Schedule {
 public:
  void add(Picoseconds at, Event::Kind kind, std::uint32_t subject, std::uint32_t epoch = 0) {
    heap_.push_back({at, next_order_++, kind, subject, epoch});
    std::push_heap(heap_.begin(), heap_.end(), later);
  }

  [[nodiscard]] std::optional<Picoseconds> next() const {
    if (heap_.empty()) return std::nullopt;
    return heap_.front().at;
  }

  /// The earliest event that is due by `now`, in order.
  [[nodiscard]] std::optional<Event> take(Picoseconds now) {
    if (heap_.empty() || now < heap_.front().at) return std::nullopt;
    std::pop_heap(heap_.begin(), heap_.end(), later);
    const Event event = heap_.back();
    heap_.pop_back();
    return event;
  }

 private:
  static bool later(const Event& x, const Event& y) { return x.at != y.at ? y.at < x.at : y.order < x.order; }

  std::vector<Event> heap_;
  std::uint64_t next_order_ = 0;
};

}  // namespace heddle::sim
