/// What went through a link, a node or a set over the sweeps that are kept, column by column.
#pragma once

#include <map>
#include <string>

#include "base/result.h"
#include "control/state.h"

namespace heddle::web {

/// Query: `node` (GUID), perhaps with `port`; or `set` (its name). JSON with the columns `at` (seconds),
/// `out` and `in` (Gbit/s, summed over the ports), `utilization` (largest of a direction) and `congestion`
/// (largest); null for what nobody knows. Out and in are as the node or the set sees it. Errors: Invalid,
/// NotFound. Precondition: state.sample and its history.
[[nodiscard]] Result<std::string> summed_profile(const control::DaemonState& state,
                                                 const std::map<std::string, std::string>& query);

}  // namespace heddle::web
