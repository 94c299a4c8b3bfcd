/// What an operator means by the words of `heddle drain`: names of nodes and links become links that go off,
/// and switches that go away. Pure.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "fabric/fabric.h"
#include "regulation/governor.h"

namespace heddle::regulate {

enum class Whole : std::uint8_t {
  Named,   ///< the nodes and links themselves
  Chassis  ///< all switches that are in one housing (equal SystemImageGUID) with a switch that is named
};

/// `what`, `links` and `nodes` of the drain. A name with `*`, `?` or `[` that is none of a node is a pattern
/// of switches' names (load/switches_like.h): those that fit it as the order is given. A switch is drained by
/// its links to switches that stay: its hosts lose their way all the same, and links among switches that go
/// together need not go off. A channel adapter is drained by its cables. Errors: of FabricNames; Invalid for
/// what has no link, and for a host's Chassis.
[[nodiscard]] Result<regulation::Drain> drain_target(std::shared_ptr<const Fabric> fabric,
                                                     const std::vector<std::string>& names, Whole whole);

/// The name of the drain that is meant: the name itself, that of its only switch, or of the only drain there
/// is where nothing is said. Its switches need not be in the fabric any more. Errors: NotFound, with what
/// stands.
[[nodiscard]] Result<std::string> drain_named(const std::vector<regulation::DrainStatus>& drains,
                                              std::shared_ptr<const Fabric> fabric,
                                              const std::vector<std::string>& names);

}  // namespace heddle::regulate
