/// What management changed in the fabric, told to a data plane at the moment it happens, so that it can
/// account for the traffic up to that time under the old state.
#pragma once

#include <cstdint>

#include "base/ids.h"
#include "base/units.h"

namespace heddle::sim {

struct Change {
  enum class Kind : std::uint8_t {
    ForwardingTable,  ///< `node`; one `block` of it, or every one
    MulticastTable,   ///< `node`
    PortState,        ///< `port`: logical or physical state, width or speed
    Lid,              ///< `port`: LID or LMC
    SlToVl,           ///< `node`
    VlArbitration,    ///< `port`: tables, high limit or operational VLs
  };
  static constexpr std::uint32_t every_block = 0xffffffffU;

  Kind kind = Kind::PortState;
  NodeIndex node = no_node;
  PortIndex port = no_port;  ///< no_port where the whole node is meant
  /// LinearForwardingTable: 64 LIDs each (IBA 14.2.5.6).
  std::uint32_t block = every_block;
};

class ChangeListener {
 public:
  virtual ~ChangeListener() = default;
  /// The state is the new one already; `at` is when it changed. Must not call back into the fabric except to
  /// read its state.
  virtual void changed(const Change& change, Picoseconds at) = 0;
};

}  // namespace heddle::sim
