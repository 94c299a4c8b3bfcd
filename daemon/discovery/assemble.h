/// Makes a snapshot of what a sweep collected: joins ports to links where both ends agree, leaves out what is
/// incomplete or cut off, and says so. Pure.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "base/ids.h"
#include "discovery/problem.h"
#include "mad/survey.h"

namespace heddle::discovery {

/// The nodes of the result are in the order of their GUIDs, each with the shortest directed route from
/// `local`. GUIDs in `nodes` are distinct, and `local` is among them. `begun`: the sweep.
[[nodiscard]] std::shared_ptr<const Survey> assemble(std::vector<SurveyNode> nodes, NodeGuid local,
                                                     std::uint64_t epoch, Instant begun, Problems& problems);

}  // namespace heddle::discovery
