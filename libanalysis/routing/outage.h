/// What hosts lose when switches and links fail together: the fabric routed again without them.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "base/result.h"
#include "fabric/fabric.h"
#include "routing/engine.h"
#include "routing/link_set.h"

namespace heddle::routing {

struct Failure {
  std::vector<NodeIndex> nodes;  ///< with all of their links
  std::vector<LinkIndex> links;
};

/// All links but those that fail.
[[nodiscard]] LinkSet links_left(const Fabric& fabric, const Failure& failure);

struct Outage {
  std::vector<NodeIndex> cut_off;  ///< channel adapters outside of the piece that has the most of them
  std::vector<NodeIndex> on_one;  ///< switches with hosts that have one cable to other switches, and had more
  std::size_t hosts_on_one = 0;   ///< channel adapters at these, which the next cable cuts off
  double pairs_cut = 0;           ///< ordered pairs of host ports that are in different pieces
  double pairs_without_path = 0;  ///< likewise in one piece, which the engine does not route
  double largest = 0;             ///< load of the busiest cable, as routing::all_to_all()
  std::optional<Ratio> bisection;  ///< effective; none where no samples were asked for
};

/// By these tables, whoever made them. `samples`: of the effective bisection.
[[nodiscard]] Outage outage_of(const Fabric& fabric, const SwitchGraph& graph, const ForwardingTables& tables,
                               const LinkSet& left, unsigned samples);
/// The same by the tables that the engine makes. `samples`: of the effective bisection. The planes of
/// `options` are not looked at: they are the fabric's. Errors: of route().
[[nodiscard]] Result<Outage> outage(const Fabric& fabric, const Failure& failure, Engine engine,
                                    RouteOptions options, unsigned samples);

}  // namespace heddle::routing
