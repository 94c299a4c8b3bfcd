/// A sweep's result as what is routed by a plan: the counterpart of the plugin's subnet_reader.
#pragma once

#include <set>

#include "mad/survey.h"
#include "planned/subnet.h"

namespace heddle::lfts {

/// A cable that is trained and not Active at both ends counts as Active where tables lead over it already:
/// OpenSM is about to make it so, and to take these ways back would lose what waits for that.
[[nodiscard]] planned::SubnetRecords records_of(const Survey& survey, const std::set<LinkRef>& routed);

}  // namespace heddle::lfts
