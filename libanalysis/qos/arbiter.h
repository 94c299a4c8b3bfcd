/// What all output arbiters have in common. An arbiter is a step machine: each call of `select` says which
/// lane sends one message and accounts for it as sent. No clock, no queues, no credits of its own: the caller
/// shows what waits. The arbiters (IbaArbiter, DTableArbiter, SbtArbiter, RoundRobinArbiter) are values
/// without a common base: copy one to look ahead, put them into a std::variant to choose at run time.
#pragma once

#include <cstdint>
#include <span>

#include "base/ids.h"

namespace heddle::qos {

/// What an arbiter chooses between: a VL, or an SL in switches that schedule by SL. 0..max_lanes - 1.
using Lane = Id<struct LaneTag, std::uint8_t>;
inline constexpr std::size_t max_lanes = 32;

/// Per lane, the bytes of the message at the head of its queue if all of it may go (credits included), else
/// 0. Lanes beyond the span wait for nothing.
using Heads = std::span<const std::uint32_t>;

[[nodiscard]] constexpr std::uint32_t head(Heads heads, Lane lane) {
  return lane.raw() < heads.size() ? heads[lane.raw()] : 0;
}

/// A bit a lane.
using LaneSet = std::uint32_t;

/// Those for which something waits.
[[nodiscard]] constexpr LaneSet waiting(Heads heads) {
  LaneSet set = 0;
  for (std::size_t lane = 0; lane < heads.size() && lane < max_lanes; ++lane)
    set |= LaneSet{heads[lane] != 0} << lane;
  return set;
}

enum class Source : std::uint8_t { High, Low, Only };
/// Continued: the entry selected before goes on with what is left of its weight.
enum class Selection : std::uint8_t { New, Continued };

struct Pick {
  Lane lane;
  Source table = Source::Only;
  std::uint8_t entry = 0;  ///< position in the table
  Selection selection = Selection::New;
  friend bool operator==(const Pick&, const Pick&) = default;
};

}  // namespace heddle::qos
