/// The reference topology: a snapshot with every cable that is off put back. A link that is turned off is not
/// in the snapshots that sweeps bring; ranks, home tables and decisions need it all the same.
#pragma once

#include <memory>
#include <span>

#include "base/result.h"
#include "fabric/change.h"
#include "fabric/fabric.h"
#include "power/power_model.h"

namespace heddle::regulation {

struct AbsentLink {
  LinkRef link;
  power::LinkMode full;  ///< width and speed that it had before
};

/// `seen` with the absent links joined again, in their full width and speed; their ports keep the states in
/// which they were seen. A link whose switch is gone, or whose port has another cable, is left out. Where
/// nothing is absent the result is `seen` itself.
[[nodiscard]] std::shared_ptr<const Fabric> with_links(std::shared_ptr<const Fabric> seen,
                                                       std::span<const AbsentLink> absent);

}  // namespace heddle::regulation
