/// The shape of a fabric as its switches make it: whether they form a tree, or layers as in a fat tree.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "fabric/fabric.h"

namespace heddle::load {

/// Distinct neighbours of each switch among the switches (a trunk counts once, a cable to itself never), by
/// NodeIndex; empty for what is not a switch.
using SwitchNeighbours = std::vector<std::vector<NodeIndex>>;
[[nodiscard]] SwitchNeighbours switch_neighbours(const Fabric& fabric);

/// Parent of each switch by NodeIndex: no_node for a root and for what is not a switch. `order` lists the
/// switches, parents first.
struct Tree {
  std::vector<NodeIndex> parent;
  std::vector<NodeIndex> order{};
};
/// Each connected part of the switches is a tree, or nothing is returned. Its root is the switch that is
/// farthest from all hosts; among equals the most central, then the lowest GUID.
[[nodiscard]] std::optional<Tree> find_tree(const Fabric& fabric, const SwitchNeighbours& neighbours);

/// Level of each switch by NodeIndex: 0 for leaf switches, which have the hosts; -1 for what is not a switch.
struct Tiers {
  std::vector<int> level;
  int top = 0;
};
/// Every cable between switches joins neighbouring levels, or nothing is returned. A few hosts on upper
/// switches (gateways, storage) do not make a leaf switch of them.
[[nodiscard]] std::optional<Tiers> find_tiers(const Fabric& fabric, const SwitchNeighbours& neighbours);

}  // namespace heddle::load
