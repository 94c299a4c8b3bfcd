/// A run of traffic that shows whether hosts get what their cables allow: on the twin, by its tables, all
/// hosts send to all others as much as the narrowest part of the fabric could carry if routes were balanced
/// (routing::lower_bound()). What a host gets less, tables cost it that lead too many over one cable, or
/// nowhere.
#pragma once

#include <cstddef>
#include <vector>

#include "fabric/fabric.h"
#include "routing/link_set.h"
#include "routing/switch_graph.h"
#include "routing/tables.h"
#include "sim/traffic_plane.h"

namespace heddle::twin {

struct BandwidthRun {
  std::size_t hosts = 0;      ///< ports
  std::size_t receivers = 0;  ///< of each: all others, or so many of them that there are flows::most_flows
  double each = 0;            ///< bit/s that a host sends in all
  std::size_t flows = 0;
  std::size_t unroutable = 0;  ///< of these, without a way
  double wanted = 0;           ///< bit/s of all
  double carried = 0;
  NodeIndex worst = no_node;    ///< the host that gets least of what it wants to send and to receive
  double least = 1;             ///< that share
  PortIndex busiest = no_port;  ///< the port of a switch by which most goes to another one
  double largest = 0;           ///< share of what that link carries
};

/// `tables`: of the graph's switches. `plane`: of LIDs in use. Fewer than two hosts: nothing is run.
[[nodiscard]] Result<BandwidthRun> run_bandwidth(const Fabric& fabric, const routing::SwitchGraph& graph,
                                                 const routing::ForwardingTables& tables,
                                                 const routing::LinkSet& active, unsigned plane);

}  // namespace heddle::twin
