/// What OpenSM cannot see because the plan uses no way there. A switch that is drained has no link that is
/// on, so OpenSM drops it at its next sweep, with the hosts behind it; likewise a host whose own link is off.
/// They stay part of the topology, as cables that are off do (CableMemory): LIDs are dealt as before, and
/// their going and coming change no table. What has gone by itself is not kept: the others share its load
/// evenly.
#pragma once

#include <vector>

#include "plan/plan.h"
#include "planned/subnet.h"

namespace heddle::planned {

/// One per OpenSM; its routing thread.
class AwayMemory {
 public:
  /// Adds what is missing and was there at the routing before, or was added by it, if the plan uses no cable
  /// from what is there to it; takes note of what is there. What is not added is forgotten: it is a stranger
  /// when it comes back. `absent`: of CableMemory::missing(); gets the cables of hosts that are added. A LID
  /// that somebody else has by now is left out.
  void recall(SubnetRecords& records, std::vector<LinkRef>& absent, const plan::Plan* plan);

 private:
  SubnetRecords known_;
};

}  // namespace heddle::planned
