/// What differs between two snapshots, as a value that outlives both: everything is named by GUID and port.
#pragma once

#include <string>
#include <vector>

#include "fabric/fabric.h"
#include "fabric/node_names.h"

namespace heddle {

/// A cable by its two ends, the smaller PortRef first.
struct LinkRef {
  PortRef a;
  PortRef b;
  friend constexpr auto operator<=>(const LinkRef&, const LinkRef&) = default;
};
[[nodiscard]] LinkRef link_ref(const Fabric& fabric, const Link& link);

/// What a sweep may find changed on a port.
struct PortStatus {
  PortState state = PortState::Down;
  PhysState physical = PhysState::Polling;
  LinkWidth width = LinkWidth::None;
  LinkSpeed speed = LinkSpeed::None;
  Lid lid;
  std::uint8_t lmc = 0;
  friend constexpr bool operator==(const PortStatus&, const PortStatus&) = default;
};

struct PortChange {
  PortRef port;
  PortStatus before;
  PortStatus after;
  friend bool operator==(const PortChange&, const PortChange&) = default;
};

/// All lists are sorted. A node whose number of ports or type changed is both removed and added. The links
/// and ports of a node that came or went are in the lists of links, and not in that of ports.
struct FabricChange {
  std::vector<NodeGuid> nodes_added;
  std::vector<NodeGuid> nodes_removed;
  std::vector<NodeGuid> nodes_renamed;  ///< other description
  std::vector<LinkRef> links_added;
  std::vector<LinkRef> links_removed;
  std::vector<PortChange> ports_changed;

  [[nodiscard]] bool empty() const;
  friend bool operator==(const FabricChange&, const FabricChange&) = default;
};

[[nodiscard]] FabricChange compare(const Fabric& before, const Fabric& after);

/// A line for each difference, "+" for what came, "-" for what went, "~" for what changed. The two snapshots
/// are those that were compared; they give the names.
[[nodiscard]] std::string describe(const FabricChange& change, const Fabric& before, const Fabric& after,
                                   const NodeNames& names = {});

}  // namespace heddle
