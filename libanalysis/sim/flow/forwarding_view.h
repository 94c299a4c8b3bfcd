/// What the flow level asks of the fabric that its traffic runs on: tables and states as they are programmed.
/// The simulated fabric is one; a plan that is only thought of may be another.
#pragma once

#include "base/ids.h"
#include "base/units.h"
#include "fabric/fabric.h"
#include "qos/tables.h"

namespace heddle::sim {

class ForwardingView {
 public:
  virtual ~ForwardingView() = default;

  /// Nodes, ports and cables; PortIndex and NodeIndex below are of this snapshot.
  [[nodiscard]] virtual const Fabric& description() const = 0;
  /// Both ends of the port's cable are Active.
  [[nodiscard]] virtual bool forwards(PortIndex port) const = 0;
  /// Data rate of the port's active width and speed.
  [[nodiscard]] virtual BitRate rate(PortIndex port) const = 0;
  /// What a port takes in of what its link brings.
  [[nodiscard]] virtual Ratio intake(PortIndex port) const {
    static_cast<void>(port);
    return Ratio{1};
  }
  /// Base LID of an end port; no_lid before it has one.
  [[nodiscard]] virtual Lid lid(PortIndex end_port) const = 0;
  /// The end port that answers to this LID; no_port if none does.
  [[nodiscard]] virtual PortIndex port_of(Lid lid) const = 0;
  /// Where a switch sends this LID; no_path if nowhere.
  [[nodiscard]] virtual PortNum output(NodeIndex node, Lid lid) const = 0;
  /// VL of a packet that leaves by `out`; `in` is port 0 for what the node itself sends.
  [[nodiscard]] virtual Vl vl(NodeIndex node, PortNum in, PortNum out, Sl sl) const = 0;
  /// The tables by which the port shares its link between VLs.
  [[nodiscard]] virtual qos::VlArbitration arbitration(PortIndex port) const = 0;
};

}  // namespace heddle::sim
