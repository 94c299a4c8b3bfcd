/// The rates at which links run, of one snapshot, in another one.
#pragma once

#include <memory>

#include "fabric/fabric.h"

namespace heddle {

/// `fabric` with the width and the speed that its links have in `seen`, where they are Active there; itself
/// if that is the same.
[[nodiscard]] std::shared_ptr<const Fabric> at_rates_of(const Fabric& seen,
                                                        std::shared_ptr<const Fabric> fabric);

}  // namespace heddle
