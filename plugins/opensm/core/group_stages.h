/// How the tables of a multicast group become those of its next tree. OpenSM hands a group's entries over to
/// all switches at once, so each routing may change only what is safe in any order: a mixture of two trees
/// can have a circle, in which packets run for ever. So links that the tree is to lose go first, and links
/// that it is to gain come after them, when every switch has confirmed and no packet can be under way any
/// more that the lost ones have sent on. In between some members get nothing (multicast is unreliable; a
/// packet that runs in a circle is worse), but what stands is part of one tree at every moment. Where a tree
/// only loses or only gains, it is written at once.
///
/// Ports to hosts close no circle: they follow the group's members at once.
///
/// What a group had before it was first seen is unknown, and counts as nothing. The caller serializes.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <vector>

#include "fabric/fabric.h"
#include "routing/link_set.h"

namespace heddle::plugin {

class GroupStages {
 public:
  using Time = std::chrono::steady_clock::time_point;
  using Mlid = std::uint16_t;
  /// Ports by which switches send packets of the group on.
  using Tree = std::set<PortRef>;

  enum class Leads : std::uint8_t {
    ToSwitch,  ///< over a link that forwards
    ToHost,
    Nowhere,  ///< its link forwards nothing
    Unknown,  ///< its switch is not in sight: it may come back with what it had
  };
  using Ports = std::function<Leads(const PortRef&)>;
  /// Of a port whose switch is in sight; `usable`: links that forward.
  [[nodiscard]] static Leads where_leads(const PortRef& ref, const Fabric& fabric,
                                         const routing::LinkSet& usable);

  /// What is to be written of it next, on the way to this tree.
  [[nodiscard]] const Tree& next(Mlid group, Tree wanted, const Ports& ports, Time now);

  /// Every switch in sight has what was written; packets that lost entries have sent live so long from now
  /// on.
  void confirm(Time now, std::chrono::nanoseconds packet_life);
  void forget() { groups_.clear(); }

  /// Not confirmed, or not yet what is wanted.
  [[nodiscard]] bool settled(Mlid group) const;
  [[nodiscard]] bool settled() const;
  /// Groups that are to be routed again so that they go on, and were not asked for yet.
  [[nodiscard]] std::vector<Mlid> due_by(Time now) const;
  void asked_for(Mlid group) { groups_.at(group).asked = true; }

 private:
  struct Group {
    Tree in_force;  ///< what switches may have: at least that which they have
    Tree out_of_sight;
    Tree written;
    Tree wanted;
    bool loses = false;  ///< by what was written last
    bool confirmed = false;
    bool asked = false;  ///< for the next stage
    Time packets_gone{};
  };
  std::map<Mlid, Group> groups_;
};

}  // namespace heddle::plugin
