/// The simulated fabric as the flow level sees it: what MADs have programmed into it.
#pragma once

#include <span>

#include "sim/flow/forwarding_view.h"
#include "sim/simulated_fabric.h"

namespace heddle::sim {

class FabricView : public ForwardingView {
 public:
  /// The fabric must outlive the view.
  explicit FabricView(const SimulatedFabric& fabric) : fabric_{fabric} {}

  [[nodiscard]] const Fabric& description() const override { return fabric_.description(); }
  [[nodiscard]] bool forwards(PortIndex port) const override { return fabric_.forwards(port); }
  [[nodiscard]] BitRate rate(PortIndex port) const override {
    return data_rate(fabric_.active_width(port), fabric_.active_speed(port));
  }
  [[nodiscard]] Ratio intake(PortIndex port) const override { return fabric_.intake(port); }
  [[nodiscard]] Lid lid(PortIndex end_port) const override { return fabric_.port_info(end_port).lid; }
  [[nodiscard]] PortIndex port_of(Lid lid) const override { return fabric_.port_of(lid); }
  [[nodiscard]] PortNum output(NodeIndex node, Lid lid) const override {
    const auto table = fabric_.forwarding_table(node);
    return lid.raw() < table.size() ? table[lid.raw()] : no_path;
  }
  [[nodiscard]] Vl vl(NodeIndex node, PortNum in, PortNum out, Sl sl) const override {
    return fabric_.vl(node, in, out, sl);
  }
  [[nodiscard]] qos::VlArbitration arbitration(PortIndex port) const override {
    const VlArbitration programmed = fabric_.arbitration(port);
    return {table(programmed.high), table(programmed.low),
            qos::HighLimit{fabric_.port_info(port).vl_high_limit}};
  }

 private:
  [[nodiscard]] static qos::ArbTable table(std::span<const mad::VlArbBlock::Entry> entries) {
    qos::ArbTable result;
    for (const auto& entry : entries) {
      if (entry.weight > 0) result.push_back({entry.vl, entry.weight});
    }
    return result;
  }

  const SimulatedFabric& fabric_;
};

}  // namespace heddle::sim
