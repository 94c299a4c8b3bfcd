/// Switches and cables that an earlier run of the daemon saw, and that this one has not seen yet: as long as
/// they may come back, or a switch only does not answer, the order has to be made for them, too. Tables that
/// they hold follow the order of the run before, and one that is made without them may close a circle with
/// these. Pure.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "authority/known_fabric.h"
#include "fabric/fabric.h"

namespace heddle::provision {

using authority::PortLid;
using authority::SeenCable;

/// `seen` with those of the cables that have found no other one in their sockets, and with the switches at
/// their ends, as far as such cables join them to it. What is added is Down, has the LIDs that are known and
/// nobody else has, and no more ports than its cables need; where a rate is not known it is the one that most
/// cables have. `seen` itself where there is nothing to add.
[[nodiscard]] std::shared_ptr<const Fabric> with_remembered(std::shared_ptr<const Fabric> seen,
                                                            std::span<const SeenCable> cables,
                                                            std::span<const PortLid> lids);

}  // namespace heddle::provision
