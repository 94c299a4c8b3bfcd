/// Links taken out of use while hosts still reach one another, as regulation does it.
#pragma once

#include <cstdint>
#include <utility>

#include "base/random.h"
#include "routing/link_set.h"
#include "routing/updn.h"

namespace heddle::routing {

/// Half of the links that hosts can do without go, drawn by `random`; the router's tables are without them.
inline LinkSet with_fewer(UpDownRouter& router, LinkSet active, Random& random) {
  for (std::uint32_t i = 0; i < active.universe(); ++i) {
    if (random.below(2) == 0 || !active.contains(LinkIndex{i})) continue;
    LinkSet fewer = active;
    fewer.erase(LinkIndex{i});
    router.route(0, fewer);
    if (router.unconnected().empty()) active = std::move(fewer);
  }
  router.route(0, active);
  return active;
}

}  // namespace heddle::routing
