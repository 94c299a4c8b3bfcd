/// Where a program sits on a simulated fabric: the port that it opens.
#pragma once

#include <string_view>

#include "base/ids.h"
#include "base/result.h"
#include "fabric/fabric.h"

namespace heddle::sim {

/// The first cabled port of a channel adapter, or port 0 of a switch. `name` is a node's description (of
/// several nodes, the first's), the form that is shown of it where that is not unique ("twin#000b",
/// unique_names.h), its GUID ("0x0002c9...") or its name in ibnetdiscover files ("H-0002c9...", "S-...");
/// empty means the first channel adapter with a cable that is not an aggregation node. Errors: NotFound for
/// an unknown name, Invalid for a node that no program can sit on.
[[nodiscard]] Result<PortIndex> find_host(const Fabric& fabric, std::string_view name);

/// The node of that name, in the same words.
[[nodiscard]] Result<NodeIndex> find_named(const Fabric& fabric, std::string_view name);

}  // namespace heddle::sim
