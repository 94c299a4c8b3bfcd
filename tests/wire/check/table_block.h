/// What a block of a forwarding table (64 LIDs, or 32 multicast LIDs for 16 ports) may hold at an instant,
/// told from nothing but Sets, Gets and their answers. From the moment a Set is sent until its answer it
/// holds the old or the new; where the answer never comes, both until a request that was sent later is
/// answered. One that the program itself repeated before its answer came may arrive for as long as a MAD can
/// be late (`late`), from when it was handed on at the latest. One whose content is read, and can be nobody
/// else's, has come: no copy of it comes after that unless an answer tells of it. One that was too old to
/// come when what was there before was read counts no more; if its answer comes all the same, it has come
/// since. What has been replaced still counts for a while (`lag`), for packets that were queued under it.
#pragma once

#include <cstddef>
#include <limits>
#include <vector>

#include "check/handed_on.h"
#include "check/link.h"
#include "check/recording.h"

namespace wire {

/// No end is known.
inline constexpr Time forever = std::numeric_limits<Time>::max();

/// How long things may be under way.
struct Timing {
  Time lag = 0;   ///< packets that were sent on by an entry that is gone
  Time late = 0;  ///< a Set that its program has sent again; 0: nobody says
  /// A Set of which nobody heard again. What libumad2sim's server asks again by itself ends after four times
  /// 200 ms; a request whose program was killed is never heard of, and cannot arrive later than this.
  Time flight = 1'500'000'000;
};

/// A value that an entry may have, and since when it may. One that it had before and has again is another:
/// nobody was sent on by it in between.
struct Candidate {
  std::uint16_t value = 0;
  Time since = 0;
  Written written;
  Time until = forever;  ///< until when packets may have been sent on by it; they may still be under way
};

class TableBlock {
 public:
  enum class Width : std::uint8_t { Lft = 1, Mft = 2 };  ///< bytes of an entry

  /// `handed_on` must outlive it.
  TableBlock(Width width, const Timing& timing, const HandedOn& handed_on)
      : width_{static_cast<std::size_t>(width)},
        timing_{timing},
        handed_on_{&handed_on},
        entries_(block_bytes / width_) {}

  using Request = std::uint64_t;
  void sent(Request request, int process, const Bytes& content, Time now);
  void answered(Request request, int process, Time asked, const Bytes& content, Time now);
  void timed_out(Request request, Time now);
  void read(Time asked, const Bytes& content);
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
    int process;  ///< -1: of no program that may repeat it
    Written written;
    bool is_repeated = false;  ///< by its program, under another number
    bool has_come = false;     ///< what was read is what it carried
    bool is_past = false;      ///< it could come no more when what was there before was read
    [[nodiscard]] bool may_come() const { return !has_come && !is_past; }
  };
  void settle(const Bytes& content, Written written);
  [[nodiscard]] Time over_at(const Pending& each) const;
  void take_for_come(Time asked, const Bytes& content);
  void drop_pending_before(Time asked);
  void set_aside_before(Time asked);
  [[nodiscard]] std::uint16_t value(const Bytes& content, std::size_t index) const;
  [[nodiscard]] Written written(std::uint16_t entry, std::size_t index) const;

  std::size_t width_;
  Timing timing_;
  const HandedOn* handed_on_;
  bool known_ = false;
  bool was_known_ = false;
  /// What was read shows that no Set that went unanswered was ever taken: nobody was sent on by it.
  bool disproves_ = false;
  /// What was read stood by then: no Set could arrive after it. 0: nobody knows since when.
  Time replaced_by_ = 0;
  Bytes settled_{};
  Written settled_written_;
  Time last_answer_ = 0;
  Time last_asked_ = 0;  ///< when the Set was sent that was answered last
  std::vector<Pending> pending_;
  std::vector<std::vector<Candidate>> entries_;
  std::vector<std::size_t> changed_;
};

}  // namespace wire
