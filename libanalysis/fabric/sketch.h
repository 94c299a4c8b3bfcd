/// What the generators draw on: numbered switches and hosts with names, GUIDs and cables in the order of the
/// calls. Shapes are checked before they are drawn, so drawing itself does not fail.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "base/result.h"
#include "fabric/fabric.h"
#include "fabric/generators.h"

namespace heddle::sketch {

/// Larger fabrics have no LIDs for their nodes, and a typing error should not fill the memory.
inline constexpr std::uint64_t max_nodes = 200'000;
inline constexpr unsigned max_switch_ports = 254;

class Sketch {
 public:
  Sketch(LinkWidth width, LinkSpeed speed, unsigned switch_ports);

  /// `used_ports` is what the shape needs of this kind of switch.
  NodeIndex add_switch(const std::string& name, unsigned used_ports);
  /// Named "host-<number> mlx5_0", numbered from 0 in the order of the calls.
  NodeIndex add_host(unsigned ports);
  void cable(NodeIndex a, unsigned port_a, NodeIndex b, unsigned port_b);
  [[nodiscard]] std::shared_ptr<const Fabric> finish();

 private:
  FabricBuilder builder_;
  LinkWidth width_;
  LinkSpeed speed_;
  unsigned switch_ports_;
  std::uint32_t switches_ = 0;
  std::uint32_t hosts_ = 0;
};

/// Invalid if a switch that uses so many ports cannot have them, or if there would be too many nodes.
[[nodiscard]] Result<void> check_ports(const GeneratorSpec& spec, std::uint64_t used_ports);
[[nodiscard]] Result<void> check_nodes(std::uint64_t nodes);

using Drawing = Result<std::shared_ptr<const Fabric>>;

[[nodiscard]] Drawing draw(const GeneratorSpec& spec, const XgftSpec& shape);
[[nodiscard]] Drawing draw(const GeneratorSpec& spec, const TreeSpec& shape);
[[nodiscard]] Drawing draw(const GeneratorSpec& spec, const FatTreeSpec& shape);
[[nodiscard]] Drawing draw(const GeneratorSpec& spec, const GridSpec& shape);
[[nodiscard]] Drawing draw(const GeneratorSpec& spec, const DragonflyPlusSpec& shape);
[[nodiscard]] Drawing draw(const GeneratorSpec& spec, const RandomSpec& shape);
[[nodiscard]] Drawing draw(const GeneratorSpec& spec, const GrownSpec& shape);

}  // namespace heddle::sketch
