/// Finds the ports of a fabric that a plan speaks of, in the words that cable lists use:
///
/// | device | port | is |
/// | --- | --- | --- |
/// | a node's name or GUID | 21, Port 21, IB Port 21 | that port of it |
/// | DIRECTOR | Blade 16_Port 2/20 | port 20 of the second chip of its leaf board 16,
/// "MF0;DIRECTOR:MODEL/L16/U2" | | SWITCH | Port 21 | of the switch that calls itself "MF0;SWITCH:MODEL/U1" |
/// | HOST | HOST ibp11s0f0, or ibp11s0f0 | the adapter "HOST ibp11s0f0"; with /2 behind it its second port,
/// else the one that has a cable | | HOST | 1 | port 1 of the only adapter of HOST |
///
/// Case does not matter.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/result.h"
#include "cabling/cable_plan.h"
#include "fabric/fabric.h"

namespace heddle::cabling {

/// Where a planned end is. No node: the fabric has no such device. Port 0: it has no such port.
struct Place {
  NodeIndex node = no_node;
  PortNum port;

  [[nodiscard]] bool found() const { return node != no_node && port.raw() != 0; }
  [[nodiscard]] LinkEnd end() const { return {node, port}; }
};

class Devices {
 public:
  explicit Devices(const Fabric& fabric);  ///< which must outlive it

  /// Errors: Conflict for a device that several nodes could be, with some of their names; Invalid for a port
  /// that is none by its form.
  [[nodiscard]] Result<Place> find(const PlannedEnd& end) const;

  [[nodiscard]] const std::string& name(NodeIndex node) const { return names_[node.raw()]; }

 private:
  using Found = std::vector<NodeIndex>;
  [[nodiscard]] const Found* nodes_called(const std::string& key) const;
  [[nodiscard]] Result<Place> place(const PlannedEnd& end, NodeIndex node, std::string_view port) const;
  [[nodiscard]] Result<Place> one_of(const PlannedEnd& end, const Found& found, std::string_view port) const;
  [[nodiscard]] std::optional<Result<Place>> on_adapter(const PlannedEnd& end,
                                                        const std::string& device) const;
  [[nodiscard]] PortNum cabled_port(NodeIndex node) const;

  const Fabric& fabric_;
  std::vector<std::string> names_;                 ///< unique forms, by NodeIndex
  std::unordered_map<std::string, Found> by_key_;  ///< names in small letters, and what lists call them
};

/// "MF0;NAME:MODEL/L16/U2" taken apart, as switches of one vendor with a management board call themselves.
struct BoardName {
  std::string_view system;  ///< NAME
  char board = 0;           ///< 'L' (leaf) or 'S' (spine) of a director, else 0
  unsigned board_number = 0;
  unsigned chip = 1;
};
[[nodiscard]] std::optional<BoardName> board_name(std::string_view description);

}  // namespace heddle::cabling
