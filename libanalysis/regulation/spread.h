/// Loads under even spreading: at every switch what goes to a host switch is divided evenly over all active
/// hops on a shortest legal path. What tables do on the mean where host switches have many hosts, at a
/// fraction of the cost of following every LID. Everything it is given must outlive it.
#pragma once

#include <vector>

#include "regulation/network.h"
#include "regulation/traffic.h"
#include "routing/legal_paths.h"

namespace heddle::regulation {

/// bit/s of each directed cable between switches. `paths` are those over `active`.
[[nodiscard]] std::vector<double> spread_loads(const Network& network, const routing::LegalPaths& paths,
                                               const routing::LinkSet& active, const TrafficMatrix& matrix);

}  // namespace heddle::regulation
