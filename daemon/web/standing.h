/// What regulation and QoS verification say of links as they stand: columns of the picture that no sweep of
/// counters tells, and what the view of one link says besides. Pure.
#pragma once

#include <boost/json/value.hpp>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "control/state.h"
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

/// How many LIDs a port forwards to, and how many nodes of each kind they belong to; null for null.
[[nodiscard]] boost::json::value routes_view(const Fabric& fabric,
                                             const std::optional<std::vector<Lid>>& lids);

}  // namespace heddle::web
