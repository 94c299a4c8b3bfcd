/// How long a packet may be under way, and what that means for whoever rewrites tables that carry traffic.
///
/// A packet that some switch sent on by an old entry meets the tables of later switches as they are when it
/// arrives. Stages (update_plan.h) make every mixture safe that stands at one instant; a packet that waited
/// in a queue has seen two of them. It looks at the tables in the order of time, so what a switch gains is
/// there for whoever was led to it. Only an entry that takes a way down, or any way, from a switch can meet
/// a packet that was led there by an entry that is gone: so such entries, and no others, are written when
/// everything that was written for their LID before is older than a packet can be; and what follows a round
/// of other LIDs (lid_rounds.h), when everything that was written for any is.
///
/// Nor may a switch send back to where its packets come from while some are on their way: where there are
/// mends, which count on nobody going back (turns.h), two such returns can close a circle of dependencies.
///
/// Pure: time comes in as an argument.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

#include "base/ids.h"
#include "base/units.h"
#include "routing/update_plan.h"

namespace heddle::routing {

/// Of SwitchInfo:LifeTimeValue (IBA 14.2.5.4) and PortInfo:HOQLife (14.2.5.6): 4.096 us x 2^value; none above
/// 19, which is no limit.
[[nodiscard]] std::optional<FabricClock::duration> lifetime(std::uint8_t value);

/// The PacketLifeTime of a whole path that subnet managers answer to PathRecord queries by default (value 18,
/// OpenSM's subnet_timeout): 1.0738 s. Every transport timer of the fabric counts a packet that is older as
/// lost.
inline constexpr FabricClock::duration default_packet_life = std::chrono::milliseconds{1074};

/// The longest time from the first table that a packet meets to the last: what the switches between let it
/// live, and no more than `most`. `lifetime_values` are those of all switches. A switch with 0 was never told
/// one, and counts as one without a limit. `switches` are on the longest path.
[[nodiscard]] FabricClock::duration packet_life(std::span<const std::uint8_t> lifetime_values,
                                                std::size_t switches, FabricClock::duration most);

/// When the entries of each LID were last written.
class PacketsUnderWay {
 public:
  /// From here on, packets are taken to be gone after so long.
  void set_life(FabricClock::duration life) { life_ = life; }
  [[nodiscard]] FabricClock::duration life() const { return life_; }
  /// Of what was written before this nothing is known: any LID may have been, until `now`.
  void begin(Instant now);
  /// An entry of this LID was confirmed, or may have been taken, at this time.
  void wrote(Lid lid, Instant at);
  /// The earliest time to write these entries. Those of LIDs that carry nothing are not to be among them.
  [[nodiscard]] Instant earliest(std::span<const EntryWrite> stage) const;
  /// An entry that led packets to this LID from one switch to another is gone since.
  void replaced(Lid lid, NodeGuid from, NodeGuid to, Instant at);
  /// The earliest time at which `from` may send what is for this LID to `to`, of which it may have come.
  [[nodiscard]] Instant may_return(Lid lid, NodeGuid from, NodeGuid to) const;

  /// Until then a packet may be where the entries of some LID led that were replaced.
  [[nodiscard]] Instant gone() const { return latest_ + life_; }

 private:
  FabricClock::duration life_{default_packet_life};
  Instant begun_{};
  Instant latest_{};
  std::vector<Instant> written_;  ///< by LID
  struct Step {
    Lid lid;
    NodeGuid from;
    NodeGuid to;
    bool operator==(const Step&) const = default;
  };
  struct StepHash {
    std::size_t operator()(const Step& step) const {
      const std::hash<NodeGuid> of;
      return (of(step.from) * 31U + of(step.to)) * 31U + step.lid.raw();
    }
  };
  /// Those that are older than packets live may have gone. Tens of thousands within a packet's life.
  std::unordered_map<Step, Instant, StepHash> replaced_;
  Instant pruned_{};
};

}  // namespace heddle::routing
