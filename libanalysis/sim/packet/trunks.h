/// Several links between two switches, for packets that choose among them.
#pragma once

#include "sim/packet/network.h"

namespace heddle::packet {

/// Fills Network::trunks and Network::trunk_ports.
void find_trunks(Network& network);

}  // namespace heddle::packet
