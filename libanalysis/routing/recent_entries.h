/// Entries that switches had until less than a packet's life ago. A packet that one of them sent on may still
/// wait on that link for the one that the next switch's entry leads to, whatever tables have come since. By
/// the order and its mends (mends.h) no such wait is part of a circle; but tables that a daemon found, or
/// that follow an order which was made anew, turn packets in other ways, and what closes a circle with these
/// is to be written when they are gone (lid_rounds.h).
///
/// Time comes in as an argument. One thread's.
#pragma once

#include <cstddef>
#include <map>
#include <span>
#include <vector>

#include "base/ids.h"
#include "base/units.h"

namespace heddle::routing {

class RecentEntries {
 public:
  struct Entry {
    NodeGuid sw;
    PortNum port;
    Instant since = Instant::min();      ///< it may have been there from then on
    Instant until;                       ///< its successor was confirmed
    Instant succeeded = Instant::min();  ///< its successor may have been there from then on
  };
  /// With more, a whole fabric is written anew, and nobody can wait for all of it: none is known then.
  static constexpr std::size_t most = std::size_t{1} << 18U;
  /// Of a LID. With more, those of one switch out of one port count as one that was there all the time: a
  /// switch that contradicts itself is written anew without end.
  static constexpr std::size_t most_apart = 256;

  /// The switch had this entry; the Set of another one was sent at `asked`, and confirmed at `now`.
  void replaced(Lid lid, NodeGuid sw, PortNum port, Instant asked, Instant now);
  /// By none that ended then, or earlier, a packet is under way any more.
  void forget_until(Instant then);

  [[nodiscard]] const std::map<Lid, std::vector<Entry>>& all() const { return by_lid_; }
  /// In the order in which they were replaced.
  [[nodiscard]] std::span<const Entry> of(Lid lid) const;
  /// Since when the switch may have the entry that it has.
  [[nodiscard]] Instant since(Lid lid, NodeGuid sw) const;

 private:
  std::map<Lid, std::vector<Entry>> by_lid_;
  std::size_t count_ = 0;
  Instant unknown_until_ = Instant::min();  ///< there were too many
};

}  // namespace heddle::routing
