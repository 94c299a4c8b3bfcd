/// The fabric and its last sample as JSON, as docs/api.md describes it. Pure: snapshots in, values out.
#pragma once

#include <boost/json/value.hpp>
#include <map>
#include <string>
#include <vector>

#include "base/result.h"
#include "control/state.h"
#include "sampling/queue_probe.h"

namespace heddle::control {

using Query = std::map<std::string, std::string>;

[[nodiscard]] boost::json::value status_view(const DaemonState& state);

/// Query: name ("node/port" of either end). As write_links() says it, with both ports' counters and the
/// number of the sweep. Errors: Invalid, NotFound. The link at the port that the query's `name` says. Errors:
/// Unreachable, Invalid, NotFound.
[[nodiscard]] Result<LinkIndex> link_named(const DaemonState& state, const Query& query);
[[nodiscard]] Result<boost::json::value> link_view(const DaemonState& state, const Query& query);

/// Query: name (node name or GUID). With all its ports. Errors: NotFound.
[[nodiscard]] Result<boost::json::value> node_view(const DaemonState& state, const Query& query);

/// Query: name ("node/port" of either end), samples. Both directions over time.
[[nodiscard]] Result<boost::json::value> profile_view(const DaemonState& state, const Query& query);

/// Query: name (a node: all its cabled ports; or "node/port"). The ports whose queues are asked for. Errors:
/// Invalid, NotFound, Unreachable before the first sweep.
[[nodiscard]] Result<std::vector<PortIndex>> queue_ports(const DaemonState& state, const Query& query);
[[nodiscard]] boost::json::value queues_view(const DaemonState& state,
                                             const std::vector<sampling::QueueLook>& looks);

[[nodiscard]] Result<boost::json::value> locality_view(const DaemonState& state);

}  // namespace heddle::control
