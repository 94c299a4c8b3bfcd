/// What is wrong with the fabric (libanalysis/health), as JSON text, written finding by finding.
#pragma once

#include "control/list_views.h"

namespace heddle::control {

/// Query: host (the first word of an adapter's description, or a node's name): only what concerns it. Errors:
/// Unreachable before the first sweep of the counters, NotFound for a host that is not there.
Result<void> write_health(const DaemonState& state, const Query& query, const TextSink& out);

/// Bit error rates of what comes in at each port, the worst first. Query: match (glob over NODE/PORT).
/// Errors: Unreachable before the first sweep.
Result<void> write_bit_errors(const DaemonState& state, const Query& query, const TextSink& out);

}  // namespace heddle::control
