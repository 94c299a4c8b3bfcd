/// What a plan for OpenSM's plugin says of links that are off, where the journal that said it is lost: the
/// plan is this program's, so a port that it has as off and that is disabled was disabled by this program.
/// Pure.
#pragma once

#include <span>
#include <vector>

#include "mad/survey.h"
#include "regulation/memory.h"

namespace heddle::opensm {

/// A record for each of the links that has a disabled port in the survey. In full it is the best that both
/// ends support.
[[nodiscard]] std::vector<regulation::OffRecord> off_by_plan(std::span<const LinkRef> off,
                                                             const Survey& survey, Instant now);

}  // namespace heddle::opensm
