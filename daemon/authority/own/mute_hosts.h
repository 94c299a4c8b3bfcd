/// Hosts that do not answer for a while, though the switch says that the link to each is Active. There is no
/// other way to a host than its link, and whoever sends to it need not hear its agent: so its LIDs keep their
/// entries until the link goes down, or somebody else has its place or its LIDs.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "fabric/fabric.h"

namespace heddle::provision {

struct MuteHost {
  NodeIndex host;  ///< in the snapshot that has it
  LinkIndex link;  ///< likewise
};

/// Links of `before` to hosts that `now` has not.
[[nodiscard]] std::vector<MuteHost> mute_hosts(const Fabric& before, const Fabric& now);

/// `now` with those of `before` that are mute.
[[nodiscard]] std::shared_ptr<const Fabric> with_mute_hosts(const Fabric& before, const Fabric& now);

}  // namespace heddle::provision
