/// The multicast groups of a fabric, as its tables tell of them, and the tables that keep them together when
/// links go.
///
/// A group is who has joined it (the subnet administrator says so), and what an earlier subnet manager left
/// in the multicast forwarding tables: there, ports that lead to no switch are its members; a switch that has
/// hosts and an entry, and no member, may have somebody who only sends. Pure. One thread.
#pragma once

#include <functional>
#include <map>
#include <set>
#include <span>
#include <unordered_set>
#include <vector>

#include "authority/own/multicast_table.h"
#include "authority/own/routes.h"

namespace heddle::provision {

class MulticastGroups {
 public:
  /// A switch's table as it was found. Adds to what is known.
  void learn(const routing::SwitchGraph& graph, routing::SwitchIndex sw, const MulticastTable& found);
  struct Joined {
    std::set<PortRef> members;   ///< ports of switches that lead to them
    std::set<NodeGuid> senders;  ///< switches with members that only send
    friend bool operator==(const Joined&, const Joined&) = default;
  };
  /// Takes the place of what was said before. Who was there then and is not any more has left: what the
  /// tables told of it counts no longer either.
  void set_joined(std::map<Lid, Joined> joined);
  /// Nothing is known of any group, and no entry of one is to be taken away.
  [[nodiscard]] bool empty() const { return groups_.empty(); }
  /// Groups that somebody is in.
  [[nodiscard]] std::size_t size() const;
  /// The last group that somebody is in; no_lid if there is none.
  [[nodiscard]] Lid top() const;

  struct Wanted {
    std::vector<MulticastTable> tables;  ///< by SwitchIndex
    std::size_t unreached = 0;           ///< members that no link joins to the rest of their group
  };
  /// `held`: by SwitchIndex; null where the switch is not there. A group whose tree has only links that all
  /// planes use, and reaches everybody, keeps it; others get another tree over such links, or where those
  /// fall apart over all that are up. `leave` groups, and those that are settled, stay as they are.
  /// Precondition: routes.order.
  [[nodiscard]] Wanted trees(const Routes& routes, std::span<const MulticastTable* const> held,
                             const std::function<bool(Lid)>& leave) const;
  /// Switches hold what trees() wants: until somebody joins or leaves, or a table is found to be another one,
  /// only groups that were left have their turn.
  void settle(const std::function<bool(Lid)>& leave);
  /// Of other switches nothing that tables told is kept.
  void keep_only(const std::unordered_set<NodeGuid>& switches);
  /// Routes or switches are others, or what a switch holds is not known: all have their turn.
  void unsettle();

 private:
  struct Group {
    bool is_settled = false;
    Joined found;   ///< in tables
    Joined joined;  ///< by the subnet administrator
    [[nodiscard]] bool has_anybody() const {
      return !found.members.empty() || !found.senders.empty() || !joined.members.empty() ||
             !joined.senders.empty();
    }
  };
  std::map<Lid, Group> groups_;
};

}  // namespace heddle::provision
