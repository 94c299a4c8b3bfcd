/// What a block of a forwarding table (64 LIDs, or 32 multicast LIDs for 16 ports) may hold at an instant,
/// told from nothing but Sets, Gets and their answers. From the moment a Set is sent until its answer it
/// holds the old or the new; where the answer never comes, both until a request that was sent later is
/// answered. One that the program itself repeated before its answer came may arrive for as long as a MAD can
/// be late (`late`), from the answer on. What has been replaced still counts for a while (`lag`), for packets
/// that were queued under it.
#pragma once

#include <cstddef>
#include <limits>
#include <vector>

#include "check/recording.h"

namespace wire {

/// No end is known.
inline constexpr Time forever = std::numeric_limits<Time>::max();

/// A value that an entry may have, and since when it may.
struct Candidate {
  std::uint16_t value = 0;
  Time since = 0;
  Time until = forever;  ///< until when packets may have been sent on by it; they may still be under way
};

class TableBlock {
 public:
  enum class Width : std::uint8_t { Lft = 1, Mft = 2 };  ///< bytes of an entry

  /// `late`: 0, where nobody says how late a MAD can be.
  TableBlock(Width width, Time late)
      : width_{static_cast<std::size_t>(width)}, late_{late}, entries_(block_bytes / width_) {}

  using Request = std::uint64_t;
  void sent(Request request, int process, const Bytes& content, Time now);
  void answered(Request request, Time asked, const Bytes& content, Time now, Time lag);
  void timed_out(Request request, Time now);
  void read(Time asked, const Bytes& content, Time now, Time lag);
  /// The node lost its memory: every entry has this value.
  void forget(std::uint8_t filling, Time now);

  /// Brings the entries up to date; which of them have changed.
  const std::vector<std::size_t>& update(Time now);
  /// When update() must be called again though nothing happens; 0: need not.
  [[nodiscard]] Time next_expiry() const;

  [[nodiscard]] const std::vector<Candidate>& entry(std::size_t index) const { return entries_[index]; }
  /// Nothing has ever been read or confirmed: an entry may have any value besides its candidates.
  [[nodiscard]] bool is_unknown() const { return !known_; }

 private:
  struct Pending {
    Request request;
    Time sent;
    Time given_up;  ///< 0: in flight
    Bytes content;
    int process;
    Time overtaken = 0;  ///< when the program's own repetition was answered; 0: none was
  };
  struct Past {
    Bytes content;
    Time replaced;
    Time until;  ///< then no packet is under way any more that it sent on
  };

  void settle(const Bytes& content, Time now, Time lag);
  [[nodiscard]] bool is_over(const Pending& each, Time asked) const;
  void drop_pending_before(Time asked, Time now, Time lag);
  [[nodiscard]] std::uint16_t value(const Bytes& content, std::size_t index) const;

  std::size_t width_;
  Time late_;
  bool known_ = false;
  bool was_known_ = false;
  Bytes settled_{};
  Time last_answer_ = 0;
  std::vector<Pending> pending_;
  std::vector<Past> past_;
  std::vector<std::vector<Candidate>> entries_;
  std::vector<std::size_t> changed_;
};

}  // namespace wire
