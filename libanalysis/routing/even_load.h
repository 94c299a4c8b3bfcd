/// The fullest link when all hosts send to all and nobody deals out LIDs: every switch spreads what it has
/// over all its shortest legal ways alike. What an order can come to, at a small part of the time of tables.
#pragma once

#include "routing/legal_paths.h"
#include "routing/ranks.h"
#include "routing/switch_graph.h"

namespace heddle::routing {

/// In the unit of quality.h. `full`: over all links. What has no path is not counted.
[[nodiscard]] double even_load(const SwitchGraph& graph, const Ranks& ranks, const LegalPaths& full);

}  // namespace heddle::routing
