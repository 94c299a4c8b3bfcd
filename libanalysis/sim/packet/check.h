/// Whether a configuration makes a data plane: every rule has the key's name in its message.
#pragma once

#include "base/result.h"
#include "sim/packet/config.h"

namespace heddle::packet {

[[nodiscard]] Result<void> check(const DataPlane& plane, const Fabric& fabric,
                                 const Programming& programming);

}  // namespace heddle::packet
