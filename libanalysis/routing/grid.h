/// Finds out whether switches form a mesh, a torus, or another product of rows, rings and complete graphs,
/// from the cables alone: by factoring the graph (Imrich and Klavžar, Product Graphs, 2000). A ring of four
/// is a product of two rows of two, and is taken as such.
#pragma once

#include <cstdint>
#include <vector>

#include "base/result.h"
#include "fabric/fabric.h"
#include "routing/switch_graph.h"

namespace heddle::routing {

enum class DimensionForm : std::uint8_t { Row, Ring, Complete };

struct Dimension {
  DimensionForm form = DimensionForm::Row;
  std::uint32_t size = 0;
};

struct Grid {
  std::vector<Dimension> dimensions;
  /// Place of switch s in dimension d at [s * dimensions + d]: along the row, or around the ring.
  std::vector<std::uint32_t> place;
  /// The switch at given places: sum over d of place * product of the sizes before.
  std::vector<SwitchIndex> at;

  [[nodiscard]] std::uint32_t place_of(SwitchIndex s, std::size_t d) const {
    return place[s.raw() * dimensions.size() + d];
  }
  /// The switch whose place in dimension d is `p` instead.
  [[nodiscard]] SwitchIndex moved(SwitchIndex s, std::size_t d, std::uint32_t p) const;
};

/// Errors: Unsupported, with a switch at which the cables are no such product.
[[nodiscard]] Result<Grid> find_grid(const Fabric& fabric, const SwitchGraph& graph);

}  // namespace heddle::routing
