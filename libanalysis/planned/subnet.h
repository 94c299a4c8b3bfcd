/// OpenSM's subnet as our snapshot: what it sees, and the cables that it cannot see because they are off or
/// broken. They stay part of the topology, so that tables change as little as can be when a cable goes or
/// comes (routing/updn.h). Nodes are in the order of their GUIDs, so that the same subnet gives the same
/// tables in every OpenSM.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "fabric/change.h"
#include "fabric/fabric.h"
#include "routing/link_set.h"

namespace heddle::planned {

struct PortLids {
  PortRef port;
  PortGuid guid;
  Lid base;
  std::uint8_t lmc = 0;
};

struct Cable {
  LinkRef link;
  bool active = false;  ///< both ports are Active
  bool joins_switches = false;
};

/// As OpenSM has it: plain, in any order.
struct SubnetRecords {
  std::vector<Node> nodes;
  std::vector<PortLids> lids;
  std::vector<Cable> cables;
  /// Ports of switches that are Active and lead to nobody whom OpenSM knows.
  std::vector<PortRef> open;
  /// Switches among the nodes that OpenSM does not see (away.h), sorted.
  std::vector<NodeGuid> away;
  /// At which OpenSM is.
  std::optional<PortRef> manager;
  /// A cable between switches has been Active before.
  bool was_up = false;
};

/// Of a fabric, all of its cables Active.
[[nodiscard]] SubnetRecords records_of(const Fabric& fabric);

struct Subnet {
  std::shared_ptr<const Fabric> fabric;
  /// Cables that forward packets, or that nobody can tell yet. Others are not routed over.
  routing::LinkSet usable;
  /// Cables between switches that are there and do not forward yet: another routing is due when they do.
  std::size_t waiting = 0;
  /// Switches that OpenSM does not see, sorted: they hold no entry that anybody could write.
  std::vector<NodeGuid> away;
  /// At which OpenSM is: every switch keeps a way to it and from it.
  std::optional<PortRef> manager;
  /// Cables that may be off by now, whatever OpenSM has seen of them (ReleasedLinks).
  std::vector<LinkRef> released;
  /// What OpenSM says that cannot be: for its log.
  std::vector<std::string> remarks;
};

/// `absent`: cables of switches that OpenSM does not see; those whose ports are gone or taken are left out.
/// Where no cable between switches is Active, or has been, the fabric is being brought up, and all of them
/// are usable; else only those that are (facts/opensm.md), and a switch that has just come, none of whose
/// cables is, has none: the order of the others is as if it were not there, since it can join nobody yet.
[[nodiscard]] Subnet make_subnet(SubnetRecords records, std::span<const LinkRef> absent);

/// Whose tables OpenSM writes: all of the subnet's but those that are away.
[[nodiscard]] std::vector<NodeGuid> switches_in_sight(const Subnet& subnet);

/// Cables between switches that were seen once. One per OpenSM; its routing thread.
class CableMemory {
 public:
  /// Those that are missing in `records`; takes note of those that are there. Says there whether the fabric
  /// was up before.
  [[nodiscard]] std::vector<LinkRef> missing(SubnetRecords& records);
  /// They are not missed any more, and new when they are back.
  void leave(std::span<const LinkRef> links);

 private:
  std::vector<LinkRef> known_;  ///< sorted
  bool was_up_ = false;
};

/// Links that a plan had off when every switch had confirmed its tables. Whoever made the plan may turn them
/// off from there on, and what OpenSM knows of their ports is as old as its last heavy sweep: nobody is led
/// over them again, whoever is cut off, before the next one has seen them Active. One per OpenSM; its routing
/// thread.
class ReleasedLinks {
 public:
  /// Tables by which none of `off` is used are everywhere.
  void confirmed(std::span<const LinkRef> off) { links_.insert(off.begin(), off.end()); }
  /// Where whoever turns them off is at work here, and says what he does: no other is.
  void keep(std::span<const LinkRef> off) {
    std::erase_if(links_, [&](const LinkRef& link) { return std::ranges::find(off, link) == off.end(); });
  }
  /// The ports have been read.
  void were_looked_at() { links_.clear(); }
  [[nodiscard]] std::vector<LinkRef> links() const { return {links_.begin(), links_.end()}; }

 private:
  std::set<LinkRef> links_;
};

/// Hosts that were seen once. OpenSM drops one that does not answer in time, though its switch says that the
/// link is Active: whoever sends to it need not hear its agent, so its LIDs keep their entries until the link
/// goes down, or somebody else has the place or the LIDs. One per OpenSM; its routing thread.
class HostMemory {
 public:
  /// Adds those that are missing; takes note of those that are there. How many were added.
  std::size_t recall(SubnetRecords& records);
  /// Another subnet manager may have given LIDs in between.
  void forget() { known_.clear(); }

 private:
  struct Host {
    Node node;
    PortLids lids;
    LinkRef cable;
  };
  std::map<PortRef, Host> known_;  ///< by the port of its switch
};

}  // namespace heddle::planned
