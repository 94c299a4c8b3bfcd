/// Rules on what differs from its peers: a device that is another one than those around it, or another
/// revision of it. Whoever replaces a switch or an adapter by one of another make, or forgets one while all
/// others are renewed, is told.
#pragma once

#include <map>
#include <vector>

#include "health/finding.h"
#include "mad/firmware.h"
#include "mad/survey.h"

namespace heddle::health {

/// What devices run, as far as they have said it.
using Firmwares = std::map<NodeGuid, mad::Firmware>;

/// By NodeInfo, and by what is known of firmware: of boards of one PSID. `since` is not filled in.
[[nodiscard]] std::vector<Finding> judge_peers(const Survey& survey, const Firmwares& firmware);

}  // namespace heddle::health
