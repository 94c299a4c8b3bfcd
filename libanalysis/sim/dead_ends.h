/// Watches the rule that no table leads over a link between switches that does not forward (spec: regulation
/// 1): counts the entries that do, at the moment when they begin to. Whoever brings a fabric up writes tables
/// before links are Active, so what counts afterwards is the growth.
#pragma once

#include <cstdint>

#include "base/ids.h"
#include "mad/attributes.h"

namespace heddle::sim {

class Model;
struct NodeState;

struct DeadEnds {
  std::uint64_t unicast = 0;    ///< of a forwarding table, for a LID that a port has
  std::uint64_t multicast = 0;  ///< a group and a port
};

/// The port of the switch has ceased to forward.
[[nodiscard]] DeadEnds entries_over(const Model& model, const NodeState& node, PortNum port);
/// Those of a block that is about to be written and that say what the table has not said before.
[[nodiscard]] std::uint64_t dead_ends(const Model& model, const NodeState& node, std::uint32_t number,
                                      const mad::LftBlock& block);
/// `position`: which 16 ports.
[[nodiscard]] std::uint64_t dead_ends(const Model& model, const NodeState& node, std::size_t position,
                                      std::uint32_t number, const mad::MftBlock& block);

}  // namespace heddle::sim
