/// What kind of drawing suits a fabric: levels for trees, a grid for tori and meshes, and for anything else
/// whatever forces between the nodes make of it. The page places the nodes; here is only what the cables say.
#pragma once

#include <cstdint>
#include <vector>

#include "fabric/fabric.h"

namespace heddle::web {

struct Layout {
  enum class Kind : std::uint8_t { Levels, Grid, Free };
  Kind kind = Kind::Free;
  /// Levels: by NodeIndex, 0 for leaf switches; -1 for what is not a switch.
  std::vector<int> level{};
  /// Grid: sizes of the dimensions, and places by NodeIndex times dimensions; -1 for what is not a switch.
  std::vector<std::uint32_t> sizes{};
  std::vector<std::int32_t> place{};
};

[[nodiscard]] Layout find_layout(const Fabric& fabric);

}  // namespace heddle::web
