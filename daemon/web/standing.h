/// What regulation, QoS verification and bit errors say of links as they stand: columns of the picture that
/// no sweep of counters tells, and what the view of one link says besides. Pure.
#pragma once

#include <boost/json/value.hpp>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "control/state.h"
#include "health/bit_errors.h"
#include "regulation/governor.h"
#include "web/picture.h"

namespace heddle::web {

/// What the map colours; the page's overlays.ts has the same numbers.
enum class PowerState : std::uint8_t {
  Unregulated = 0,
  Off = 1,
  OffByOperator = 2,
  Changing = 3,  ///< on its way off or back
  On = 4,
  OnByOperator = 5,
};
[[nodiscard]] PowerState power_state(const regulation::LinkStatus& link);

/// Links that the sample's fabric has not are left out.
void add_power(Picture& picture, const load::Sample& sample,
               const std::vector<regulation::LinkStatus>& links);

/// 1 for ports whose tables differ from those pushed, 0 for all others.
void add_drift(Picture& picture, const load::Sample& sample, const std::map<PortRef, std::string>& differing);

/// 0 for none; else hundredths of decades above 10^-20, 1 at least; unknown_bits. The page's overlays.ts has
/// the same scale.
[[nodiscard]] std::int64_t bit_errors_shown(std::optional<double> rate);
/// Effective bit error rates, of the window in which they are higher. Ports that the fabric has not are left
/// out.
[[nodiscard]] Column bit_errors_of(const Fabric& fabric, const std::vector<health::PortBitErrors>& ports);

/// How many LIDs a port forwards to, and how many nodes of each kind they belong to; null for null.
[[nodiscard]] boost::json::value routes_view(const Fabric& fabric,
                                             const std::optional<std::vector<Lid>>& lids);

}  // namespace heddle::web
