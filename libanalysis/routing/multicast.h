/// The tree of a multicast group over the links that the plan allows. Where one switch is above all members,
/// it is the root and every branch only goes down from it, so that packets go up and then down in the same
/// order as unicast. Elsewhere (links that are off may leave no such switch) the tree is a shortest one over
/// the same links in any direction: packets arrive once and in no circle, but the order is not kept.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "routing/link_set.h"
#include "routing/ranks.h"
#include "routing/switch_graph.h"

namespace heddle::routing {

struct MulticastMember {
  SwitchIndex at;
  PortNum out;  ///< on the switch; 0 for the switch itself
};

struct MulticastTree {
  struct Port {
    SwitchIndex sw;
    PortNum port;
    friend constexpr auto operator<=>(const Port&, const Port&) = default;
  };
  /// What forwards packets of the group: both ends of every branch, and the members' ports. Sorted.
  std::vector<Port> ports;
  /// Links of its branches.
  std::vector<LinkIndex> links;
  std::size_t unreached = 0;  ///< members that the links do not reach
  bool in_order = true;
};

/// `turn`, such as the MLID, spreads the groups over equal roots and branches.
[[nodiscard]] MulticastTree grow_tree(const SwitchGraph& graph, const Ranks& ranks, const LinkSet& permitted,
                                      std::span<const MulticastMember> members, std::uint32_t turn);

}  // namespace heddle::routing
