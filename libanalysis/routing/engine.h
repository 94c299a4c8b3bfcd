/// All routing engines by name, for the command line and for whoever lets an operator choose.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "fabric/fabric.h"
#include "routing/link_set.h"
#include "routing/ranks.h"
#include "routing/switch_graph.h"
#include "routing/tables.h"
#include "routing/vl_tables.h"

namespace heddle::routing {

enum class Engine : std::uint8_t {
  UpDown,    ///< updn: any fabric, free of deadlock on one VL
  FatTree,   ///< ftree: as updn, but refuses what is no tree of levels
  DimOrder,  ///< dor: meshes and tori
  MinHop     ///< minhop: any fabric, may deadlock
};

[[nodiscard]] std::string_view to_string(Engine engine);
[[nodiscard]] std::optional<Engine> engine_from(std::string_view name);

struct RouteOptions {
  std::vector<NodeGuid> roots;  ///< updn and ftree; none: chosen
  unsigned vls = 8;             ///< data VLs that the fabric has; dor may need two
  unsigned planes = 1;          ///< updn and ftree: routed each by itself, as UpDownOptions has them
};

struct Routes {
  SwitchGraph graph;
  ForwardingTables tables;
  std::optional<Ranks> ranks;   ///< updn, ftree
  std::optional<VlTables> vls;  ///< dor where it needs more than one
  std::vector<std::string> warnings;
};

/// Routes all LIDs of the fabric over the active links. A pair of host switches without a path is a warning.
/// Errors: those of the engine; Unsupported with the reason where it does not suit the fabric.
[[nodiscard]] Result<Routes> route(const Fabric& fabric, const LinkSet& active, Engine engine,
                                   const RouteOptions& options = {});

}  // namespace heddle::routing
