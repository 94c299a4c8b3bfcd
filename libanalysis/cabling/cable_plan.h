/// What should be plugged where: a list of cables as cabling contractors have it, or a fabric that was right
/// once. Devices and ports stand in the words of their author; devices.h finds them in a fabric.
///
/// A list is a CSV file with a header that names at least StartDevice, StartPort, EndDevice and EndPort;
/// UFM's NDT files are such lists. Columns before, between and after these do no harm.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "fabric/fabric.h"

namespace heddle::cabling {

struct PlannedEnd {
  std::string device;    ///< fit to print
  std::string port;      ///< "21", "Port 21", "Blade 16_Port 2/20", "HOST ibp11s0f0"
  std::string location;  ///< of the device, rack and height, where the plan has one
  NodeGuid guid;         ///< where the plan has one, else 0
};

/// Nominal rate of a link in one direction, in gigabits a second as products are called: 100 for 4xEDR.
struct NominalRate {
  double gbit = 0;
  friend constexpr bool operator==(const NominalRate&, const NominalRate&) = default;
};
[[nodiscard]] NominalRate nominal_rate(LinkWidth width, LinkSpeed speed);
/// "4xHDR" for what four lanes of a speed carry, else "25 Gbit/s".
[[nodiscard]] std::string to_string(NominalRate rate);

struct PlannedCable {
  PlannedEnd start;
  PlannedEnd end;
  std::optional<NominalRate> rate;
  std::size_t line = 0;  ///< of the file, from 1; 0 for plans that have none
};

/// Lists have what people plug: no links inside of a chassis and none to aggregation nodes.
enum class Scope : unsigned char { EveryLink, Cables };

struct CablePlan {
  std::string file;
  Scope scope = Scope::EveryLink;
  std::vector<PlannedCable> cables;
  std::vector<std::string> warnings;  ///< one for each kind, with a count and the first line
};

/// Whether a line among the first hundred names StartDevice and EndDevice.
[[nodiscard]] bool is_cable_list(std::string_view text);

/// Errors: Invalid, with file and line, for a column that is missing, a line that ends before the last column
/// that is needed, or an end without device or port.
[[nodiscard]] Result<CablePlan> parse_cable_list(std::string_view text, const std::string& file);

/// A list of cables, or a fabric in any text form (fabric/topology.h). Errors: of these.
[[nodiscard]] Result<CablePlan> read_plan(std::string_view text, const std::string& file);

/// All links of a fabric, as they are.
[[nodiscard]] CablePlan plan_of(const Fabric& fabric, const std::string& file);

}  // namespace heddle::cabling
