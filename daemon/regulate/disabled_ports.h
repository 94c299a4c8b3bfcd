/// Ports that are disabled: by this program, which has them in its memory, or by somebody else. Where the
/// memory is lost, nobody can tell the two apart but an operator. Pure.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "fabric/fabric.h"
#include "regulation/governor.h"

namespace heddle::regulate {

/// Of these ports, those that no order of this program's is known to have disabled: neither in memory, nor at
/// a link that the governor has in hand. A link that it takes for on was seen a moment ago.
[[nodiscard]] std::vector<PortRef> not_ours(std::span<const PortRef> disabled,
                                            const regulation::Governor& governor);

}  // namespace heddle::regulate
