/// The multicast groups of a fabric, as its tables tell of them, and the tables that keep them together when
/// links go.
///
/// There is no subnet administrator here, so nobody joins and nobody leaves: a group is what an earlier
/// subnet manager left in the multicast forwarding tables. Ports that lead to no switch are its members; a
/// switch that has hosts and an entry, and no member, may have somebody who only sends. Pure. One thread.
#pragma once

#include <functional>
#include <map>
#include <set>
#include <span>
#include <vector>

#include "authority/own/multicast_table.h"
#include "authority/own/routes.h"

namespace heddle::provision {

class MulticastGroups {
 public:
  /// A switch's table as it was found. Adds to what is known.
  void learn(const routing::SwitchGraph& graph, routing::SwitchIndex sw, const MulticastTable& found);
  [[nodiscard]] bool empty() const { return groups_.empty(); }
  [[nodiscard]] std::size_t size() const { return groups_.size(); }

  struct Wanted {
    std::vector<MulticastTable> tables;  ///< by SwitchIndex
    std::size_t unreached = 0;           ///< members that no link joins to the rest of their group
  };
  /// `held`: by SwitchIndex; null where the switch is not there. A group whose tree has only links that all
  /// planes use, and reaches everybody, keeps it; others get another tree over such links, or where those
  /// fall apart over all that are up. `leave` groups stay as they are. Precondition: routes.order.
  [[nodiscard]] Wanted trees(const Routes& routes, std::span<const MulticastTable* const> held,
                             const std::function<bool(Lid)>& leave) const;

 private:
  struct Group {
    std::set<PortRef> members;
    std::set<NodeGuid> senders;
  };
  std::map<Lid, Group> groups_;
};

}  // namespace heddle::provision
