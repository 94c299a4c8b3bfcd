/// What is decided once for all links together, and stays as links go and come.
#pragma once

#include "routing/destinations.h"
#include "routing/legal_paths.h"
#include "routing/mends.h"
#include "routing/ranks.h"
#include "routing/switch_graph.h"

namespace heddle::routing {

/// References: they must outlive whoever is given them.
struct FullTopology {
  const SwitchGraph& graph;
  const Destinations& destinations;
  const Ranks& ranks;
  const LegalPaths& paths;
  const Mends& mends;
};

}  // namespace heddle::routing
