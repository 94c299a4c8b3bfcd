/// A fabric as its cables lie, not as its links run: what somebody has turned off on purpose is where it was.
#pragma once

#include <memory>
#include <set>

#include "fabric/change.h"
#include "fabric/fabric.h"

namespace heddle::cabling {

/// What is seen, and of `reference` the links that are `off`, with switches that nothing else leads to.
/// `reference` may be null.
[[nodiscard]] std::shared_ptr<const Fabric> as_cabled(const std::shared_ptr<const Fabric>& reference,
                                                      const std::shared_ptr<const Fabric>& seen,
                                                      const std::set<LinkRef>& off);

}  // namespace heddle::cabling
