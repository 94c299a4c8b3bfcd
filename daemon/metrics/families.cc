#include "metrics/families.h"

#include <array>

#include "metrics/lines.h"

namespace heddle::metrics {
namespace {

using load::Counter;
using load::is_known;
using load::PortSample;
using Type = Family::Type;
using Of = Family::Of;

bool is_switch(const Family& family) { return family.of == Of::Switches; }
// The label that carries the node's name.
std::string_view name_label(const Family& family) {
  return family.of == Of::Switches ? "switch" : family.of == Of::Hosts ? "hca" : "node";
}

bool leads_to_a_switch(const Fabric& fabric, const Port& port) {
  const auto peer = fabric.peer({port.node, port.num});
  return peer && fabric.node(peer->node).type == NodeType::Switch;
}

template <class Each>
void each_port(const Source& source, NodeIndex index, Each each) {
  const Fabric& fabric = source.labels->fabric();
  const Node& node = fabric.node(index);
  const bool uplinks_only = source.selection.ports == PortChoice::Uplink;
  for (std::uint32_t p = 1; p <= node.port_count; ++p) {
    const PortIndex index_of_port{node.first_port.raw() + p};
    const Port& port = fabric.port(index_of_port);
    if (uplinks_only && !leads_to_a_switch(fabric, port)) continue;
    each(index_of_port, port, source.sample->port(index_of_port));
  }
}

template <class Number>
void port_line(const Family& family, const Source& source, PortIndex index, const Port& port, Number value,
               std::string& out) {
  begin_port_line(out, family.name, source.first_label, source.labels->guid(index), port.num);
  append_label(out, name_label(family), source.labels->name(port.node));
  end_line(out, value);
}

void write_counter(const Family& family, const Source& source, NodeIndex node, std::string& out) {
  const std::size_t i = load::at(family.counter);
  const bool words = family.counter == Counter::XmitData || family.counter == Counter::RcvData;
  each_port(source, node, [&](PortIndex index, const Port& port, const PortSample& sample) {
    if ((sample.known & mask(family.counter)) == 0) return;
    std::uint64_t total = sample.totals[i];
    if (source.errors && (skippable & mask(family.counter)) != 0) {
      if ((source.errors->all[index.raw()] & mask(family.counter)) == 0) return;
      if ((source.errors->zero[index.raw()] & mask(family.counter)) != 0) total = 0;
    }
    port_line(family, source, index, port, words ? total * 4 : total, out);
  });
}

void write_state(const Family& family, const Source& source, NodeIndex node, std::string& out) {
  each_port(source, node, [&](PortIndex index, const Port& port, const PortSample&) {
    port_line(family, source, index, port, std::uint64_t{port.state == PortState::Active ? 1U : 0U}, out);
  });
}

void write_departed_states(const Family& family, const Source& source, NodeIndex, std::string& out) {
  const bool switches = family.name.starts_with("infiniband_switch");
  for (const DepartedPort& port : *source.departed) {
    if ((port.type == NodeType::Switch) != switches || !source.selection.wants_node(port.node)) continue;
    begin_port_line(out, family.name, source.first_label, port.guid, port.port);
    append_label(out, switches ? "switch" : "hca", port.name);
    end_line(out, std::uint64_t{0});
  }
}

void write_rate(const Family& family, const Source& source, NodeIndex node, std::string& out) {
  each_port(source, node, [&](PortIndex index, const Port& port, const PortSample&) {
    if (port.link == no_link) return;
    port_line(family, source, index, port, data_rate(port.width, port.speed).value() / 8, out);
  });
}

std::string_view type_name(NodeType type) {
  return type == NodeType::Switch ? "SW" : type == NodeType::Router ? "RT" : "CA";
}

Lid lid_of(const Fabric& fabric, PortIndex index) {
  const Port& port = fabric.port(index);
  const Node& node = fabric.node(port.node);
  return node.type == NodeType::Switch ? fabric.port(node.first_port).lid : port.lid;
}

void write_uplink(const Family& family, const Source& source, NodeIndex node, std::string& out) {
  const Fabric& fabric = source.labels->fabric();
  each_port(source, node, [&](PortIndex index, const Port& port, const PortSample&) {
    const auto peer = fabric.peer({port.node, port.num});
    if (!peer) return;
    const PortIndex far = fabric.port_index(*peer);
    begin_port_line(out, family.name, source.first_label, source.labels->guid(index), port.num);
    append_label(out, name_label(family), source.labels->name(node));
    append_label(out, "uplink", source.labels->name(peer->node));
    append_label(out, "uplink_guid", source.labels->guid(far));
    append_label(out, "uplink_type", type_name(fabric.node(peer->node).type));
    out.append(",uplink_port=\"");
    append_number(out, std::uint64_t{peer->port.raw()});
    out.append("\",uplink_lid=\"");
    append_number(out, std::uint64_t{lid_of(fabric, far).raw()});
    out += '"';
    end_line(out, std::uint64_t{1});
  });
}

void write_info(const Family& family, const Source& source, NodeIndex node, std::string& out) {
  const Fabric& fabric = source.labels->fabric();
  const auto line = [&](PortIndex port) {
    begin_line(out, family.name, source.first_label, "guid", source.labels->guid(port));
    append_label(out, name_label(family), source.labels->name(node));
    out.append(",lid=\"");
    append_number(out, std::uint64_t{lid_of(fabric, port).raw()});
    out += '"';
    end_line(out, std::uint64_t{1});
  };
  if (is_switch(family)) return line(fabric.node(node).first_port);
  each_port(source, node, [&](PortIndex index, const Port& port, const PortSample&) {
    if (port.link != no_link) line(index);
  });
}

template <float PortSample::*Figure>
void write_figure(const Family& family, const Source& source, NodeIndex node, std::string& out) {
  each_port(source, node, [&](PortIndex index, const Port& port, const PortSample& sample) {
    if (port.link == no_link || !is_known(sample.*Figure)) return;
    port_line(family, source, index, port, sample.*Figure, out);
  });
}

template <std::uint32_t PortSample::*Count>
void write_count(const Family& family, const Source& source, NodeIndex node, std::string& out) {
  each_port(source, node, [&](PortIndex index, const Port& port, const PortSample& sample) {
    if (sample.*Count > 0) port_line(family, source, index, port, std::uint64_t{sample.*Count}, out);
  });
}

template <float load::Figures::*Mean, float load::Figures::*Most>
void write_switch_figure(const Family& family, const Source& source, NodeIndex node, std::string& out) {
  const load::Figures& figures = source.sample->nodes[node.raw()];
  const auto line = [&](std::string_view stat, float value) {
    if (!is_known(value)) return;
    begin_line(out, family.name, source.first_label, "guid",
               source.labels->guid(source.labels->fabric().node(node).first_port));
    append_label(out, "switch", source.labels->name(node));
    append_label(out, "stat", stat);
    end_line(out, value);
  };
  line("mean", figures.*Mean);
  line("max", figures.*Most);
}

void write_locality(const Family& family, const Source& source, NodeIndex, std::string& out) {
  const load::Sample& sample = *source.sample;
  if (!sample.set_names) return;
  const auto line = [&](const std::string& set, std::string_view kind, float value) {
    if (!is_known(value)) return;
    std::string name;
    append_label_value(name, set);
    begin_line(out, family.name, source.first_label, "set", name);
    append_label(out, "kind", kind);
    end_line(out, value);
  };
  for (std::size_t i = 0; i < sample.locality.size(); ++i) {
    const std::string& set = (*sample.set_names)[i];
    line(set, "generated", sample.locality[i].generated);
    line(set, "consumed", sample.locality[i].consumed);
    line(set, "total", sample.locality[i].total);
  }
}

struct CounterText {
  Counter counter;
  std::string_view switch_name, hca_name, help;
};
// Names and order of infiniband_exporter.
#define HEDDLE_COUNTER(counter, name, help) \
  { Counter::counter, "infiniband_switch_port_" name, "infiniband_hca_port_" name, help }
constexpr std::array<CounterText, load::counter_count> counter_texts{{
    HEDDLE_COUNTER(XmitData, "transmit_data_bytes_total", "Bytes sent by the port (PortXmitData x 4)"),
    HEDDLE_COUNTER(RcvData, "receive_data_bytes_total", "Bytes received by the port (PortRcvData x 4)"),
    HEDDLE_COUNTER(XmitPackets, "transmit_packets_total", "Packets sent (PortXmitPkts)"),
    HEDDLE_COUNTER(RcvPackets, "receive_packets_total", "Packets received (PortRcvPkts)"),
    HEDDLE_COUNTER(UnicastXmitPackets, "unicast_transmit_packets_total", "PortUnicastXmitPkts"),
    HEDDLE_COUNTER(UnicastRcvPackets, "unicast_receive_packets_total", "PortUnicastRcvPkts"),
    HEDDLE_COUNTER(MulticastXmitPackets, "multicast_transmit_packets_total", "PortMulticastXmitPkts"),
    HEDDLE_COUNTER(MulticastRcvPackets, "multicast_receive_packets_total", "PortMulticastRcvPkts"),
    HEDDLE_COUNTER(SymbolErrors, "symbol_error_total", "SymbolErrorCounter"),
    HEDDLE_COUNTER(LinkRecovers, "link_error_recovery_total", "LinkErrorRecoveryCounter"),
    HEDDLE_COUNTER(LinkDowned, "link_downed_total", "LinkDownedCounter"),
    HEDDLE_COUNTER(RcvErrors, "receive_errors_total", "PortRcvErrors"),
    HEDDLE_COUNTER(RcvRemotePhysicalErrors, "receive_remote_physical_errors_total",
                   "PortRcvRemotePhysicalErrors"),
    HEDDLE_COUNTER(RcvSwitchRelayErrors, "receive_switch_relay_errors_total", "PortRcvSwitchRelayErrors"),
    HEDDLE_COUNTER(XmitDiscards, "transmit_discards_total", "PortXmitDiscards"),
    HEDDLE_COUNTER(XmitConstraintErrors, "transmit_constraint_errors_total", "PortXmitConstraintErrors"),
    HEDDLE_COUNTER(RcvConstraintErrors, "receive_constraint_errors_total", "PortRcvConstraintErrors"),
    HEDDLE_COUNTER(LocalLinkIntegrityErrors, "local_link_integrity_errors_total", "LocalLinkIntegrityErrors"),
    HEDDLE_COUNTER(ExcessiveBufferOverrunErrors, "excessive_buffer_overrun_errors_total",
                   "ExcessiveBufferOverrunErrors"),
    HEDDLE_COUNTER(Vl15Dropped, "vl15_dropped_total", "VL15Dropped"),
    HEDDLE_COUNTER(XmitWait, "transmit_wait_total",
                   "Ticks in which the port had data and could not send (PortXmitWait)"),
    HEDDLE_COUNTER(Qp1Dropped, "qp1_dropped_total", "QP1Dropped"),
}};
#undef HEDDLE_COUNTER

std::vector<Family> make_families() {
  std::vector<Family> all;
  for (const CounterText& text : counter_texts) {
    all.push_back({text.switch_name, text.help, Type::Counter, Of::Switches, write_counter, text.counter});
    all.push_back({text.hca_name, text.help, Type::Counter, Of::Hosts, write_counter, text.counter});
  }
  constexpr std::string_view up = "1 while the port is Active, else 0; stays 0 when its node is gone";
  // The second row of each continues the first.
  all.push_back({"infiniband_switch_port_state", up, Type::Gauge, Of::Switches, write_state});
  all.push_back({"infiniband_switch_port_state", "", Type::Gauge, Of::Fabric, write_departed_states});
  all.push_back({"infiniband_hca_port_state", up, Type::Gauge, Of::Hosts, write_state});
  all.push_back({"infiniband_hca_port_state", "", Type::Gauge, Of::Fabric, write_departed_states});
  constexpr std::string_view rate = "Data rate of the port's active width and speed, coding taken off";
  all.push_back(
      {"infiniband_switch_port_rate_bytes_per_second", rate, Type::Gauge, Of::Switches, write_rate});
  all.push_back({"infiniband_hca_port_rate_bytes_per_second", rate, Type::Gauge, Of::Hosts, write_rate});
  constexpr std::string_view uplink = "What the port is cabled to";
  all.push_back({"infiniband_switch_uplink_info", uplink, Type::Gauge, Of::Switches, write_uplink});
  all.push_back({"infiniband_hca_uplink_info", uplink, Type::Gauge, Of::Hosts, write_uplink});
  all.push_back({"infiniband_switch_info", "A switch of the fabric", Type::Gauge, Of::Switches, write_info});
  all.push_back(
      {"infiniband_hca_info", "A channel adapter port of the fabric", Type::Gauge, Of::Hosts, write_info});
  all.push_back({"heddle_link_utilization_ratio",
                 "Data rate over the rate of the link, for the direction that leaves this port", Type::Gauge,
                 Of::Nodes, write_figure<&PortSample::utilization>});
  all.push_back({"heddle_link_congestion_ratio",
                 "Share of the time in which this port had data and could not send", Type::Gauge, Of::Nodes,
                 write_figure<&PortSample::congestion>});
  all.push_back({"heddle_port_saturated_total",
                 "Readings in which a 32-bit counter was full: what passed after that was not seen",
                 Type::Counter, Of::Nodes, write_count<&PortSample::saturations>});
  all.push_back({"heddle_port_gaps_total",
                 "Readings whose growth could not be told: counters reset by others, restarts", Type::Counter,
                 Of::Nodes, write_count<&PortSample::gaps>});
  all.push_back({"heddle_switch_utilization_ratio", "Utilization over the links that leave the switch",
                 Type::Gauge, Of::Switches,
                 write_switch_figure<&load::Figures::utilization_mean, &load::Figures::utilization_max>});
  all.push_back({"heddle_switch_congestion_ratio", "Congestion over the links that leave the switch",
                 Type::Gauge, Of::Switches,
                 write_switch_figure<&load::Figures::congestion_mean, &load::Figures::congestion_max>});
  all.push_back({"heddle_locality_ratio",
                 "Share of the traffic generated, consumed, or both, that stays within the set", Type::Gauge,
                 Of::Fabric, write_locality});
  return all;
}

}  // namespace

std::span<const Family> families() {
  static const std::vector<Family> all = make_families();
  return all;
}

void append_head(const Family& family, Format format, std::string& out) {
  if (family.help.empty()) return;
  std::string_view name = family.name;
  if (format == Format::OpenMetrics && family.type == Family::Type::Counter) name = without_total(name);
  out.append("# HELP ").append(name).append(" ").append(family.help);
  out.append("\n# TYPE ").append(name);
  out.append(family.type == Family::Type::Counter ? " counter\n" : " gauge\n");
}

}  // namespace heddle::metrics
