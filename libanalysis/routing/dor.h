/// Dimension order for meshes and tori: all of the way in the first dimension, then in the second, and so on,
/// each the shorter way round. Rings of five and more need two VLs: packets that pass the place between the
/// last and the first switch of a ring take VL 1 in that dimension, the others VL 0. Neither closes the ring,
/// as no way is longer than half of it. The SL of a path has one bit per such dimension, and the SL to VL
/// tables pick the bit of the dimension of the output port.
#pragma once

#include <optional>

#include "base/result.h"
#include "fabric/fabric.h"
#include "routing/link_set.h"
#include "routing/switch_graph.h"
#include "routing/tables.h"
#include "routing/vl_tables.h"

namespace heddle::routing {

struct DimOrderRoutes {
  ForwardingTables tables;
  std::optional<VlTables> vls;  ///< none: one VL is enough
};

/// `vls`: data VLs that every switch has. Errors: Unsupported where the cables are no grid, where two
/// neighbours have no active link left (dimension order cannot go around), where VLs are lacking, or with
/// more than four rings that need a bit.
[[nodiscard]] Result<DimOrderRoutes> route_dimension_order(const Fabric& fabric, const SwitchGraph& graph,
                                                           const LinkSet& active, unsigned vls);

}  // namespace heddle::routing
