/// Traffic locality of sets of nodes (IBPM; facts/monitoring.md 2): how much of what a set generates and
/// consumes stays within it. The sets are the subtrees of a tree and the pods of a fat tree, found by
/// themselves, and those that the operator names.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "fabric/fabric.h"
#include "load/sample.h"

namespace heddle::load {

/// A set from the configuration: every node whose name or GUID ("0x...") matches one of the patterns.
struct NamedSet {
  std::string name;
  std::vector<std::string> patterns;
};

/// The sets of one Fabric snapshot, reduced to the ports whose rates matter. Immutable.
class LocalitySets {
 public:
  /// Sets of nodes that lie apart from each other get a sentence in `warnings()`: the formulas are for
  /// connected sets. So do sets that no node belongs to.
  static std::shared_ptr<const LocalitySets> find(const Fabric& fabric, std::span<const NamedSet> named);

  /// "subtree/NAME", "leaf/NAME", "pod1/NAME" (level; its uppermost switch of lowest GUID), or as named.
  [[nodiscard]] const std::shared_ptr<const std::vector<std::string>>& names() const { return names_; }
  [[nodiscard]] const std::vector<std::string>& warnings() const { return warnings_; }

  /// Ports of the hosts in a set, those of the sets within it included.
  [[nodiscard]] std::vector<PortIndex> endpoints(std::size_t set) const;
  /// Ports whose cable leaves the set.
  [[nodiscard]] std::span<const PortIndex> borders(std::size_t set) const { return sets_[set].borders; }

  /// Figures of each set, at the position of its name. `ports` by PortIndex of the same snapshot. Ports whose
  /// rate nobody knows count as silent. Negative where other people's traffic crosses the set.
  void evaluate(const Fabric& fabric, const std::vector<PortSample>& ports,
                std::vector<SetLocality>& result) const;

 private:
  friend class LocalitySetsBuilder;

  /// Traffic of a set is that of its own endpoints and of the earlier sets that it contains.
  struct Set {
    std::vector<PortIndex> endpoints;      ///< ports of hosts
    std::vector<PortIndex> borders;        ///< ports whose cable leaves the set
    std::vector<std::uint32_t> contained;  ///< positions before its own
  };

  std::vector<Set> sets_;
  std::shared_ptr<const std::vector<std::string>> names_;
  std::vector<std::string> warnings_;
};

}  // namespace heddle::load
