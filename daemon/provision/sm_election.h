/// Whether this program may be the subnet manager, given the others that were found (IBA 14.4.1). Pure.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "base/ids.h"
#include "base/result.h"
#include "mad/attributes.h"

namespace heddle::provision {

struct OtherSm {
  PortRef where;
  mad::SmInfo info;
};

/// Errors: Refused where another one is master, or will be: one that is still discovering or standing by with
/// a higher priority, or the same and a smaller GUID.
[[nodiscard]] Result<void> may_be_master(PortGuid own, std::uint8_t priority,
                                         const std::vector<OtherSm>& others);

[[nodiscard]] std::string_view to_string(mad::SmInfo::State state);

}  // namespace heddle::provision
