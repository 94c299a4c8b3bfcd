/// All that happens to the core, one type each. What they name is there for as long as on() runs.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <variant>

#include "base/units.h"
#include "core/core_options.h"
#include "mad/packet.h"

namespace heddle::core {

/// The first one.
struct Began {};
/// A MAD, at this time; it may have waited since.
struct Arrived {
  const mad::Packet& packet;
  Instant at;
};
/// It is time for what next_deadline() said; too early is no harm.
struct TimersDue {};
/// The event before took so long that what was sent in it left later than its time says.
struct TookLong {};
/// The fabric is reached by another port: everything looks different from there.
struct WayMoved {};
/// An operator wants something: `what` calls functions of the core's parts.
struct Asked {
  const std::function<void()>& what;
  /// The same as it may be written down; null: nobody does.
  const std::function<std::string()>* words = nullptr;
};
/// Who was handed something, and calls back: each in the order in which it was handed things.
enum class Source : std::uint8_t { Disk, Tables, Hosts, Plugin };
struct CameBack {
  const std::function<void()>& then;
  Source from = Source::Disk;
  /// Of who speaks unasked: what it said, as it may be written down.
  std::string_view words{};
};
/// The configuration was read again.
struct Reloaded {
  const Settings& settings;
};
/// What is under way goes on where somebody takes it up again; it is ended where nobody does.
enum class Changes : std::uint8_t { GoOn, End };
/// Outside::on_rest() follows, perhaps from within.
struct StopAsked {
  Changes changes = Changes::GoOn;
};

using Event =
    std::variant<Began, Arrived, TimersDue, TookLong, WayMoved, Asked, CameBack, Reloaded, StopAsked>;

}  // namespace heddle::core
