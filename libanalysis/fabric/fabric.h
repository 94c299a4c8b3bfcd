/// A snapshot of a fabric: what a sweep found, or a file or a generator describes. Immutable once built,
/// shared by `shared_ptr<const Fabric>` between threads without locks. Positions (NodeIndex, PortIndex,
/// LinkIndex) are dense and valid in one snapshot only; GUIDs and PortRefs outlive it.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/ids.h"
#include "base/result.h"
#include "fabric/link_rate.h"

namespace heddle {

enum class NodeType : std::uint8_t { ChannelAdapter = 1, Switch = 2, Router = 3 };

/// Logical state (IBA 14.2.5.6, PortInfo.PortState).
enum class PortState : std::uint8_t { NoChange = 0, Down = 1, Init = 2, Armed = 3, Active = 4 };

/// PortInfo.PortPhysicalState.
enum class PhysState : std::uint8_t {
  NoChange = 0,
  Sleep = 1,
  Polling = 2,
  Disabled = 3,
  Training = 4,
  LinkUp = 5,
  ErrorRecovery = 6,
  PhyTest = 7
};

[[nodiscard]] std::string_view to_string(NodeType type);
[[nodiscard]] std::string_view to_string(PortState state);
[[nodiscard]] std::string_view to_string(PhysState state);

struct Node {
  NodeGuid guid;
  NodeType type = NodeType::ChannelAdapter;
  std::uint8_t port_count = 0;  ///< external ports, 1..port_count
  bool enhanced_port0 = false;  ///< switches: port 0 carries data and has counters
  bool aggregation = false;     ///< SHARP aggregation node: a channel adapter that is not a host
  std::uint32_t vendor_id = 0;
  std::uint16_t device_id = 0;
  std::uint64_t system_image_guid = 0;
  std::string description;  ///< NodeDescription as the node says it: any bytes, at most 64
  PortIndex first_port;     ///< slot of port 0; port p is at first_port + p
};

struct Port {
  NodeIndex node;
  PortNum num;
  std::uint8_t lmc = 0;
  PortState state = PortState::Down;
  PhysState physical = PhysState::Polling;
  LinkWidth width = LinkWidth::None;  ///< active
  LinkSpeed speed = LinkSpeed::None;  ///< active
  Lid lid;        ///< base LID: of channel adapter ports and of a switch's port 0, else none
  PortGuid guid;  ///< likewise
  LinkIndex link = no_link;
};

struct LinkEnd {
  NodeIndex node;
  PortNum port;
  friend constexpr auto operator<=>(const LinkEnd&, const LinkEnd&) = default;
};

/// A cable. End a is the one with the smaller (NodeIndex, PortNum); both may be on one node.
struct Link {
  LinkEnd a;
  LinkEnd b;
  LinkWidth width = LinkWidth::None;
  LinkSpeed speed = LinkSpeed::None;
};

class Fabric {
 public:
  /// Grows by one with every snapshot of one discoverer.
  [[nodiscard]] std::uint64_t epoch() const { return epoch_; }

  [[nodiscard]] std::span<const Node> nodes() const { return nodes_; }
  /// All slots, port 0 of every node included (unused for channel adapters).
  [[nodiscard]] std::span<const Port> ports() const { return ports_; }
  [[nodiscard]] std::span<const Link> links() const { return links_; }

  [[nodiscard]] const Node& node(NodeIndex i) const { return nodes_[i.raw()]; }
  [[nodiscard]] const Port& port(PortIndex i) const { return ports_[i.raw()]; }
  [[nodiscard]] const Link& link(LinkIndex i) const { return links_[i.raw()]; }
  [[nodiscard]] const Port& port(LinkEnd end) const { return ports_[port_index(end).raw()]; }

  /// Precondition: port <= port_count of the node.
  [[nodiscard]] PortIndex port_index(NodeIndex node, PortNum port) const {
    return PortIndex{nodes_[node.raw()].first_port.raw() + port.raw()};
  }
  [[nodiscard]] PortIndex port_index(LinkEnd end) const { return port_index(end.node, end.port); }

  /// The other end of the cable in this port, if there is one.
  [[nodiscard]] std::optional<LinkEnd> peer(LinkEnd end) const;

  [[nodiscard]] NodeIndex find_node(NodeGuid guid) const;  ///< no_node if there is none
  [[nodiscard]] PortIndex find_port(const PortRef& ref) const;
  [[nodiscard]] PortIndex find_port(PortGuid guid) const;
  /// The port that answers to this LID, any of the 2^LMC of it.
  [[nodiscard]] PortIndex find_port(Lid lid) const;

  [[nodiscard]] PortRef ref(LinkEnd end) const { return {node(end.node).guid, end.port}; }
  [[nodiscard]] PortRef ref(PortIndex i) const { return {node(port(i).node).guid, port(i).num}; }

  [[nodiscard]] std::size_t switch_count() const { return switch_count_; }
  /// Channel adapters, aggregation nodes included.
  [[nodiscard]] std::size_t channel_adapter_count() const {
    return nodes_.size() - switch_count_ - router_count_;
  }

 private:
  friend class FabricBuilder;
  Fabric() = default;

  std::uint64_t epoch_ = 0;
  std::vector<Node> nodes_;
  std::vector<Port> ports_;
  std::vector<Link> links_;
  std::size_t switch_count_ = 0;
  std::size_t router_count_ = 0;
  std::unordered_map<NodeGuid, NodeIndex> by_guid_;
  std::unordered_map<PortGuid, PortIndex> by_port_guid_;
  std::vector<PortIndex> by_lid_;
};

/// Puts a Fabric together. Order matters for nothing but the indices: nodes keep the order in which they were
/// added. Not thread-safe; use once.
class FabricBuilder {
 public:
  /// Makes room for so many; ports with port 0 of each node.
  void expect(std::size_t nodes, std::size_t ports, std::size_t links);

  /// What can be said of a port besides its place; `link` and `node` are ignored.
  /// Errors: Conflict for a GUID that is there already, Invalid for a port count above 254.
  Result<NodeIndex> add_node(Node node);

  /// Gives the port its attributes (guid, lid, lmc, state, width, speed). Errors: Invalid for a port the node
  /// has not.
  Result<void> set_port(NodeIndex node, const Port& port);

  /// Joins two ports. Their state becomes Active/LinkUp unless set_port said otherwise.
  /// Errors: Invalid for a port the node has not and for port 0, Conflict for a port that has a cable
  /// already.
  Result<LinkIndex> add_link(LinkEnd a, LinkEnd b, LinkWidth width, LinkSpeed speed);

  [[nodiscard]] NodeIndex find_node(NodeGuid guid) const;
  [[nodiscard]] const Node& node(NodeIndex i) const { return fabric_->nodes_[i.raw()]; }
  [[nodiscard]] const Port& port(NodeIndex node, PortNum port) const;

  /// Links are numbered by (end a), so that the same graph gives the same numbers. Leaves the builder empty.
  [[nodiscard]] std::shared_ptr<const Fabric> build(std::uint64_t epoch = 0);

 private:
  Result<PortIndex> checked(NodeIndex node, PortNum port) const;

  std::shared_ptr<Fabric> fabric_{new Fabric};
};

}  // namespace heddle
