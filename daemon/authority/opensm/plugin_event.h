/// What the OpenSM plugin says, line by line (docs/opensm.md). Values only.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/ids.h"
#include "base/result.h"

namespace heddle::opensm {

struct PluginEvent {
  enum class Kind : std::uint8_t {
    Hello,
    Plan,
    RoutingDone,
    MulticastDone,
    SubnetUp,
    HeavySweepStart,
    HeavySweepDone,
    SmState,
    Other,  ///< traps, timings, and whatever later plugins say
  };

  Kind kind = Kind::Other;
  std::uint64_t epoch = 0;  ///< of the plan in force in the plugin; 0: none
  // RoutingDone.
  bool reroute = false;
  std::size_t switches_behind = 0;
  std::size_t unconnected = 0;
  bool relaxed = false;
  std::vector<std::uint32_t> stages;  ///< per plane
  std::size_t groups = 0;
  std::uint64_t blocks = 0;                 ///< of forwarding tables that were written
  std::vector<Lid> staying;                 ///< keep routes of an earlier order; Hello, too
  std::chrono::microseconds packet_life{};  ///< how long a packet may follow the tables before
  /// RoutingDone, MulticastDone, SubnetUp.
  bool errors = false;
  /// Hello: ports may be set, since no sweep is under way.
  bool window = false;
  std::string state;    ///< Hello, SmState: "master", "standby" ...
  std::string message;  ///< Plan
  bool taken = false;   ///< Plan
};

/// Error: Invalid for what is no line of the plugin's, or another protocol.
[[nodiscard]] Result<PluginEvent> parse_plugin_event(std::string_view line);
/// A line that says the same.
[[nodiscard]] std::string to_line(const PluginEvent& event);

}  // namespace heddle::opensm
