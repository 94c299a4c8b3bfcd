/// From the words of a scenario to ports of a fabric.
#pragma once

#include <string_view>
#include <vector>

#include "base/ids.h"
#include "base/random.h"
#include "base/result.h"
#include "fabric/fabric.h"
#include "sim/scenario.h"

namespace heddle::sim {

/// load::glob_matches, and "{1..64}" for a number in this range: with as many digits as written where the
/// lower end has leading zeros, any number of digits otherwise.
[[nodiscard]] bool host_name_matches(std::string_view pattern, std::string_view name);

/// Cabled ports of channel adapters that are no aggregation nodes, in the order of the fabric.
[[nodiscard]] std::vector<PortIndex> host_ports(const Fabric& fabric);

/// Errors: NotFound for names that no host has, or where nothing is left.
[[nodiscard]] Result<std::vector<PortIndex>> select_hosts(const Fabric& fabric,
                                                          const HostSelection& selection, Random& random);

}  // namespace heddle::sim
