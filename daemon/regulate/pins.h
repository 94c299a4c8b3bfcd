/// Links that the configuration pins, by patterns over what operators call them. Pure.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "fabric/change.h"
#include "fabric/fabric.h"
#include "fabric/node_names.h"

namespace heddle::regulate {

struct Pins {
  std::vector<LinkRef> links;
  std::vector<std::string> unmatched;  ///< patterns that no link has
};

/// A pattern (load/glob.h) is over a link, "leaf-0-3/12 -- spine-0-1/4" in either order, over one of its
/// ends, or over one of its switches.
[[nodiscard]] Pins find_pins(std::shared_ptr<const Fabric> fabric, const NodeNames& names,
                             std::span<const std::string> patterns);

}  // namespace heddle::regulate
