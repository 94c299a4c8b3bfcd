/// Hosts and switches that do not answer for a while, though their neighbours say that the links to them are
/// Active. Packets pass a switch whether or not its agent hears, and there is no other way to a host than its
/// link: so their LIDs, and those behind them that nobody can ask meanwhile, keep their entries until the
/// links go down, or somebody else has the place or the LIDs.
#pragma once

#include <memory>
#include <vector>

#include "fabric/fabric.h"
#include "routing/link_set.h"

namespace heddle::provision {

/// By position in the snapshot that has them.
struct MuteNodes {
  std::vector<NodeIndex> nodes;
  std::vector<LinkIndex> links;  ///< that forward, as far as can be known
};

/// Of `before`, what `now` has not. `up`: links of `before` that forwarded: between two nodes that are mute
/// nobody says more.
[[nodiscard]] MuteNodes mute_nodes(const Fabric& before, const routing::LinkSet& up, const Fabric& now);

/// `now` with those of `before` that are mute, and all their cables.
[[nodiscard]] std::shared_ptr<const Fabric> with_mute_nodes(const Fabric& before, const routing::LinkSet& up,
                                                            const Fabric& now);

}  // namespace heddle::provision
