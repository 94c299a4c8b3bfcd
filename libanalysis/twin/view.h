/// A fabric that is only thought of: cables of a snapshot, some of them off, tables that are in force or
/// would be, and perhaps QoS tables on all ports. The flow plane runs traffic on it as on the simulated
/// fabric. Everything that it is given must outlive it.
#pragma once

#include "fabric/link_rate.h"
#include "qos/programming.h"
#include "routing/link_set.h"
#include "routing/switch_graph.h"
#include "routing/tables.h"
#include "sim/flow/forwarding_view.h"

namespace heddle::twin {

class View final : public sim::ForwardingView {
 public:
  /// `tables`: of the graph's switches. `qos`: null for one VL that takes all.
  View(const Fabric& fabric, const routing::SwitchGraph& graph, const routing::ForwardingTables& tables,
       const routing::LinkSet& active, const qos::Programming* qos)
      : fabric_{fabric}, graph_{graph}, tables_{tables}, active_{active}, qos_{qos} {}

  [[nodiscard]] const routing::SwitchGraph& graph() const { return graph_; }
  [[nodiscard]] const routing::ForwardingTables& tables() const { return tables_; }
  [[nodiscard]] const routing::LinkSet& active() const { return active_; }
  [[nodiscard]] const qos::Programming* qos() const { return qos_; }
  [[nodiscard]] const Fabric& description() const override { return fabric_; }
  [[nodiscard]] bool forwards(PortIndex port) const override {
    const LinkIndex link = fabric_.port(port).link;
    return link != no_link && active_.contains(link);
  }
  [[nodiscard]] BitRate rate(PortIndex port) const override {
    const LinkIndex link = fabric_.port(port).link;
    return link == no_link ? BitRate{0} : data_rate(fabric_.link(link).width, fabric_.link(link).speed);
  }
  [[nodiscard]] Lid lid(PortIndex end_port) const override { return fabric_.port(end_port).lid; }
  [[nodiscard]] PortIndex port_of(Lid lid) const override { return fabric_.find_port(lid); }
  [[nodiscard]] PortNum output(NodeIndex node, Lid lid) const override {
    const routing::SwitchIndex s = graph_.find(node);
    return s == routing::no_switch ? no_path : tables_.port(s, lid);
  }
  [[nodiscard]] Vl vl(NodeIndex /*node*/, PortNum /*in*/, PortNum /*out*/, Sl sl) const override {
    return qos_ == nullptr ? Vl{0} : qos_->map.vl[sl.raw()];
  }
  [[nodiscard]] qos::VlArbitration arbitration(PortIndex /*port*/) const override {
    return qos_ == nullptr ? qos::VlArbitration{} : qos_->tables;
  }

 private:
  const Fabric& fabric_;
  const routing::SwitchGraph& graph_;
  const routing::ForwardingTables& tables_;
  const routing::LinkSet& active_;
  const qos::Programming* qos_;
};

}  // namespace heddle::twin
