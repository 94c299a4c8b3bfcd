/// Everything that a sweep learned: the snapshot of the fabric, and what managing it needs besides. Immutable
/// once finished, shared by `shared_ptr<const Survey>`.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/ids.h"
#include "base/units.h"
#include "fabric/fabric.h"
#include "mad/attributes.h"

namespace heddle {

struct SurveyPort {
  bool known = false;   ///< `info` was answered
  bool silent = false;  ///< up, and nothing answers behind it
  LinkSpeed speed = LinkSpeed::None;
  mad::PortInfo info;
  PortGuid guid;                ///< of ports that carry one, where known
  std::optional<PortRef> peer;  ///< what a MAD that left by this port arrived at
};

struct SurveyNode {
  mad::NodeInfo info;
  std::string description;
  std::optional<mad::SwitchInfo> switch_info;
  std::vector<PortNum> path;      ///< directed route from the local node; empty for itself
  std::vector<SurveyPort> ports;  ///< 0 .. port_count

  [[nodiscard]] NodeGuid guid() const { return info.node_guid; }
  [[nodiscard]] bool is_switch() const { return info.type == NodeType::Switch; }
};

struct Survey {
  std::shared_ptr<const Fabric> fabric;
  std::vector<SurveyNode> nodes;  ///< by NodeIndex of `fabric`
  NodeIndex local = no_node;      ///< where the daemon is
  Instant begun{};                ///< the sweep that found it

  [[nodiscard]] const SurveyNode& node(NodeIndex i) const { return nodes[i.raw()]; }
  /// The port that the daemon sits on; 0 of a switch. Precondition: `local` is known.
  [[nodiscard]] LinkEnd own_port() const {
    return {local, node(local).is_switch() ? PortNum{0} : node(local).info.local_port};
  }
  [[nodiscard]] const SurveyPort& port(LinkEnd end) const {
    return nodes[end.node.raw()].ports[end.port.raw()];
  }
};

/// The directed route that arrives at a node by this very port: what sets a channel adapter's port. None
/// where no cable leads there. For a switch, any way to it.
[[nodiscard]] std::optional<std::vector<PortNum>> route_to(const Survey& survey, LinkEnd end);

/// The directed routes of `from` to all nodes that both have.
void take_routes(const Survey& from, Survey& to);

/// `"leaf 3" (0x0002c90300080e84)`.
[[nodiscard]] std::string name_of(const SurveyNode& node);
/// `port 7 of "leaf 3" (0x0002c90300080e84)`.
[[nodiscard]] std::string name_of(const SurveyNode& node, PortNum port);

}  // namespace heddle
