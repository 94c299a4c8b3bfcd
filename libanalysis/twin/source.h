/// What a twin is made of: of the running fabric what was read and measured, of one in a file its cables.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "power/power_model.h"
#include "regulation/network.h"
#include "regulation/selector.h"
#include "routing/link_set.h"
#include "routing/tables.h"

namespace heddle::twin {

struct Source {
  /// With LIDs and with every link that may be active.
  std::shared_ptr<const Fabric> fabric;
  routing::LinkSet active;  ///< links that carry traffic at present
  /// As switches said them; none where nobody has read them back.
  std::optional<routing::ForwardingTables> tables;
  double tables_age = 0;               ///< seconds
  std::size_t unread = 0;              ///< switches of which something is older, or not known
  bool outdated = false;               ///< the fabric has changed since they were begun to be read
  regulation::NetworkOptions order;    ///< in which heddled routes; no ranks: it does not
  unsigned next_plane = 0;             ///< after the next change
  unsigned plane = 0;                  ///< of LIDs that traffic is told to use
  std::vector<double> leaving;         ///< bit/s by PortIndex, not a number where not known; empty: no loads
  double loads_age = 0;                ///< seconds
  std::optional<double> watts_all_on;  ///< none where nobody counts
  std::vector<double> watts;           ///< of each link between switches while it is on, by LinkIndex
  /// By which the regulation chooses links: as configured, or as shipped, with the paper's switch.
  regulation::Thresholds thresholds{};
  power::PowerModel power{};
  std::vector<PortRef> kept{};  ///< one end of each link that the regulation leaves on
};

}  // namespace heddle::twin
