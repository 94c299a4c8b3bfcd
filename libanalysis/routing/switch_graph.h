/// The fabric as a router sees it: switches in dense order, the cables between them, and what each LID leads
/// to. Compact, so that every engine walks arrays. Immutable; valid for the snapshot that it was made from.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/ids.h"
#include "base/result.h"
#include "fabric/fabric.h"

namespace heddle::routing {

/// Position of a switch among the switches of one snapshot, in the order of their NodeIndex.
using SwitchIndex = Id<struct SwitchIndexTag, std::uint32_t>;
inline constexpr SwitchIndex no_switch{0xffffffffU};

/// One direction of a cable between two switches.
struct Hop {
  SwitchIndex peer;
  LinkIndex link;
  PortNum out;  ///< on the switch that the hop leaves
  PortNum in;   ///< on the peer
};

enum class TargetKind : std::uint8_t {
  Host,    ///< channel adapter: source and destination of load
  Switch,  ///< a switch's port 0
  Other    ///< SHARP aggregation node or router: reachable, no load of its own
};

/// A port that has LIDs, and the switch port at which it hangs.
struct Target {
  Lid base;
  std::uint8_t lmc = 0;
  TargetKind kind = TargetKind::Host;
  PortNum out;  ///< on `at`; 0 for the switch itself
  SwitchIndex at;
  LinkIndex link = no_link;  ///< its cable; none for a switch
  PortIndex port;

  [[nodiscard]] unsigned lid_count() const { return 1U << lmc; }
};

class SwitchGraph {
 public:
  /// Errors: Invalid for a LID range that leaves 1..0xBFFF or is not aligned to its LMC, Conflict for a LID
  /// of two ports.
  static Result<SwitchGraph> make(const Fabric& fabric);

  [[nodiscard]] std::size_t size() const { return nodes_.size(); }
  [[nodiscard]] NodeIndex node(SwitchIndex s) const { return nodes_[s.raw()]; }
  [[nodiscard]] NodeGuid guid(SwitchIndex s) const { return guids_[s.raw()]; }
  [[nodiscard]] std::span<const NodeGuid> guids() const { return guids_; }
  /// no_switch for a node that is none.
  [[nodiscard]] SwitchIndex find(NodeIndex node) const { return by_node_[node.raw()]; }

  /// In the order of the outgoing port. Cables from a switch to itself are left out.
  [[nodiscard]] std::span<const Hop> hops(SwitchIndex s) const {
    return std::span(hops_).subspan(first_[s.raw()], first_[s.raw() + 1] - first_[s.raw()]);
  }
  [[nodiscard]] std::size_t hop_count() const { return hops_.size(); }
  /// Position of hops(s)[0] among all hops: a dense number for every directed cable.
  [[nodiscard]] std::size_t first_hop(SwitchIndex s) const { return first_[s.raw()]; }

  /// Ports with LIDs that hang at a switch, ascending by LID. A port that has none is not there.
  [[nodiscard]] std::span<const Target> targets() const { return targets_; }
  /// Positions in targets() of those at this switch, itself included.
  [[nodiscard]] std::span<const std::uint32_t> targets_at(SwitchIndex s) const {
    return std::span(at_).subspan(first_at_[s.raw()], first_at_[s.raw() + 1] - first_at_[s.raw()]);
  }
  /// The largest LID of any target; 0 when there is none.
  [[nodiscard]] Lid top_lid() const { return top_; }
  /// Host ports at the switch: the sources of its load.
  [[nodiscard]] std::uint32_t hosts_at(SwitchIndex s) const { return hosts_[s.raw()]; }
  [[nodiscard]] std::size_t host_count() const;

 private:
  std::vector<NodeIndex> nodes_;
  std::vector<NodeGuid> guids_;
  std::vector<SwitchIndex> by_node_;
  std::vector<std::uint32_t> first_;
  std::vector<Hop> hops_;
  std::vector<Target> targets_;
  std::vector<std::uint32_t> first_at_;
  std::vector<std::uint32_t> at_;
  std::vector<std::uint32_t> hosts_;
  Lid top_;
};

}  // namespace heddle::routing
