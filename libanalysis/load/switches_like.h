/// Switches by a pattern of their names, as operators take several at once: half of a director's boards.
#pragma once

#include <string_view>
#include <vector>

#include "base/result.h"
#include "fabric/link_name.h"

namespace heddle::load {

/// Whether there is anything in it that a name would hardly have: `*`, `?` or `[`.
[[nodiscard]] bool is_pattern(std::string_view text);

/// All switches whose name, or own description, the pattern (glob.h) fits, in the order of the fabric.
/// Errors: NotFound if it fits none.
[[nodiscard]] Result<std::vector<NodeIndex>> switches_like(std::string_view pattern,
                                                           const FabricNames& known);

}  // namespace heddle::load
