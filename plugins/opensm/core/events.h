/// What the plugin tells the daemon, and what the daemon tells it: JSON, one object a line (docs/opensm.md).
/// Texts are made fit to print: a path may hold any bytes, and JSON may not. Pure; any thread.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/ids.h"
#include "core/timings.h"

namespace heddle::plugin {

/// Of the lines' form.
inline constexpr unsigned protocol = 1;

/// A routing whose answers are all in.
struct Confirmation {
  std::uint64_t epoch = 0;            ///< of the plan in force; 0: none
  bool reroute = false;               ///< without rediscovery
  std::size_t switches_behind = 0;    ///< whose forwarding tables are not as they should be
  std::size_t unconnected = 0;        ///< pairs of host switches without a path
  bool relaxed = false;               ///< links that the plan avoids are used
  bool errors = false;                ///< OpenSM has seen errors since its last sweep
  std::vector<std::uint32_t> stages;  ///< of each plane's update
  std::size_t groups = 0;             ///< multicast groups that are being routed again
  std::uint64_t blocks = 0;           ///< forwarding table blocks that switches have taken
  std::vector<Lid> staying;           ///< keep routes of an earlier order; the line has 4,096 of them at most
  /// After so long no packet follows the tables before.
  std::chrono::nanoseconds packet_life{};

  /// Every switch has what the plan wants.
  [[nodiscard]] bool confirmed() const { return switches_behind == 0 && !relaxed && !errors; }
};

struct Hello {
  std::string opensm;
  std::string plan;  ///< path
  std::string state;
  std::uint64_t dropped = 0;
  bool window = false;  ///< the subnet is up, and no heavy sweep has begun since
};

[[nodiscard]] std::string hello_line(const Hello& hello, const Confirmation& last);
[[nodiscard]] std::string routing_line(const Confirmation& done);
/// The groups of a confirmation have their trees.
[[nodiscard]] std::string multicast_line(std::uint64_t epoch, bool errors);
[[nodiscard]] std::string subnet_up_line(bool errors, std::uint64_t epoch);
/// Events without more to say: "heavy_sweep_start", "heavy_sweep_done".
[[nodiscard]] std::string plain_line(std::string_view event);
[[nodiscard]] std::string state_line(std::string_view state);
[[nodiscard]] std::string trap_line(unsigned type, unsigned number, unsigned issuer_lid);
[[nodiscard]] std::string plan_line(std::uint64_t epoch, bool taken, std::string_view message);
[[nodiscard]] std::string timings_line(const Timings& timings);

enum class Command { None, NewPlan, HeavySweep, Status };
/// None for what is no command.
[[nodiscard]] Command parse_command(std::string_view line);

}  // namespace heddle::plugin
