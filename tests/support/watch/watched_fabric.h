/// What the watch goes by: the description with the LIDs that are programmed, the faults of the test, and
/// what cables join. Nothing here is told by the daemon.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "routing/switch_graph.h"
#include "routing/tables.h"
#include "sim/simulated_fabric.h"
#include "support/watch/fault_ledger.h"

namespace heddle::test {

/// A byte for every node: asked for each pair of a switch and a LID.
class NodeSet {
 public:
  explicit NodeSet(std::size_t nodes = 0) : in_(nodes, 0) {}
  [[nodiscard]] bool contains(NodeIndex node) const { return in_[node.raw()] != 0; }
  /// Whether it was not there.
  bool insert(NodeIndex node) { return std::exchange(in_[node.raw()], std::uint8_t{1}) == 0; }

 private:
  std::vector<std::uint8_t> in_;
};

class WatchedFabric {
 public:
  WatchedFabric(const sim::SimulatedFabric& sim, PortIndex daemon)
      : faults{sim}, sim_{sim}, daemon_{daemon} {}

  /// Takes up the LIDs that are programmed; true if others than before.
  /// Errors: two ports have one LID, and what was known stays. Precondition of all that follows: it succeeded
  /// once.
  [[nodiscard]] Result<bool> learn_lids();

  [[nodiscard]] const sim::SimulatedFabric& sim() const { return sim_; }
  [[nodiscard]] const Fabric& fabric() const { return *with_lids_; }
  [[nodiscard]] const routing::SwitchGraph& graph() const { return *graph_; }
  [[nodiscard]] PortIndex daemon() const { return daemon_; }
  [[nodiscard]] routing::ForwardingTables tables() const;

  [[nodiscard]] bool is_switch(NodeIndex node) const {
    return sim_.description().node(node).type == NodeType::Switch;
  }
  [[nodiscard]] std::string name(NodeIndex node) const { return with_lids_->node(node).description; }
  /// What is wrong with leaving by this port, unless a fault is.
  [[nodiscard]] std::string port_fault(NodeIndex node, PortNum port) const;

  /// Nodes to which cables lead from the daemon, links that are off included, faults excluded.
  [[nodiscard]] const NodeSet& joined() const;
  /// Switches that cables join to the daemon, and that its directed routes do not reach.
  [[nodiscard]] std::vector<std::string> out_of_reach() const;

  FaultLedger faults;

 private:
  /// The LIDs that are known are those that are programmed, but for dead nodes.
  [[nodiscard]] bool has_lids() const;
  /// Null: of all nodes.
  [[nodiscard]] std::shared_ptr<const Fabric> with_lids_of(const NodeSet* some) const;
  template <class Passes>
  [[nodiscard]] NodeSet flood(Passes passes) const;

  const sim::SimulatedFabric& sim_;
  PortIndex daemon_;
  std::shared_ptr<const Fabric> with_lids_;
  std::unique_ptr<routing::SwitchGraph> graph_;
  mutable NodeSet joined_;
  mutable std::uint64_t joined_at_ = 0;  ///< version of the faults; 0: unknown
};

}  // namespace heddle::test
