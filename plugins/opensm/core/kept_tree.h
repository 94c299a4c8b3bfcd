/// The tree by which a multicast group was last routed: what is asked, when routes have changed, is whether
/// it may stay. Of OpenSM's thread.
#pragma once

#include <vector>

#include "fabric/change.h"
#include "planned/route_maker.h"

namespace heddle::plugin {

struct KeptTree {
  std::vector<LinkRef> links;
  bool whole = true;  ///< it reached all, in the order of the routes
};

/// Whether it is whole and these routes still permit each of its links.
[[nodiscard]] bool still_good(const KeptTree& tree, const planned::Routes& routes);

}  // namespace heddle::plugin
