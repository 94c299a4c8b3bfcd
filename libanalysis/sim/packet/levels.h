/// Levels of a tree, for routing upwards by choice: how far each switch is from the hosts and from every
/// other switch.
#pragma once

#include <vector>

#include "sim/packet/network.h"

namespace heddle::packet {

/// Neighbours of each switch, once for each link.
using SwitchGraphLists = std::vector<std::vector<std::uint32_t>>;
[[nodiscard]] SwitchGraphLists switch_neighbours(const Network& network);

/// Fills LinkState::upward, Network::uplinks and Network::distance. A port leads upwards if the switch behind
/// it is farther from its nearest host than this one.
void find_levels(Network& network);

}  // namespace heddle::packet
