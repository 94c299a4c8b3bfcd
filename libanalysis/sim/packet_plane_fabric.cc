// What the packet plane takes from the fabric, and what it tells it: programming and counters.

#include <algorithm>

#include "sim/packet_plane.h"

namespace heddle::sim {
namespace {

using packet::LaneCount;
using packet::PortCount;

constexpr std::uint64_t words_per_flit = 64 / 4;

/// VL by (in x (ports + 1) + out) x 16 + SL; a host has input 0 only.
std::vector<Vl> sl_to_vl(const ForwardingView& view, NodeIndex index) {
  const Node& node = view.description().node(index);
  const bool is_switch = node.type == NodeType::Switch;
  const unsigned ports = node.port_count + 1U;
  std::vector<Vl> table(std::size_t{is_switch ? ports * ports : ports} * 16);
  for (unsigned in = is_switch ? 1 : 0; in < (is_switch ? ports : 1); ++in) {
    for (unsigned out = 1; out < ports; ++out) {
      for (std::uint8_t sl = 0; sl < 16; ++sl) {
        table[(in * ports + out) * 16 + sl] = view.vl(index, PortNum{static_cast<std::uint8_t>(in)},
                                                      PortNum{static_cast<std::uint8_t>(out)}, Sl{sl});
      }
    }
  }
  return table;
}

}  // namespace

// --- programming ---

void PacketPlane::program_row(std::uint32_t element) {
  const packet::SwitchElement& at = sim_.network().switches[element];
  for (const packet::HostElement& host : sim_.network().hosts) {
    const std::uint16_t base = view_.lid(host.slot).raw();
    const std::uint8_t lmc = sim_.network().fabric->port(host.slot).lmc;
    for (unsigned path = 0; path < 1U << lmc; ++path) {
      const Lid lid{static_cast<std::uint16_t>(base + path)};
      const bool answers = Lid{base} != no_lid && view_.port_of(lid) == host.slot;
      sim_.set_route(routing::SwitchIndex{at.row}, Lid{static_cast<std::uint16_t>(host.lid.raw() + path)},
                     answers ? view_.output(at.node, lid) : no_path);
    }
  }
}

/// Reads again what has changed since it was read.
void PacketPlane::program() {
  if (all_rows_stale_) {
    for (std::uint32_t i = 0; i < sim_.network().switches.size(); ++i) program_row(i);
  } else {
    for (const NodeIndex node : stale_rows_) program_row(element_of_node_[node.raw()]);
  }
  all_rows_stale_ = false;
  stale_rows_.clear();
  for (const NodeIndex node : stale_lanes_) sim_.set_sl_to_vl(node, sl_to_vl(view_, node));
  stale_lanes_.clear();
  for (const PortIndex port : stale_arbitration_) sim_.set_arbitration(port, view_.arbitration(port));
  stale_arbitration_.clear();
}

void PacketPlane::set_state(PortIndex port) {
  const LinkIndex link = view_.description().port(port).link;
  if (link == no_link) return;
  const bool open = view_.forwards(port);
  if (open) sim_.set_rate(link, view_.rate(port));
  sim_.set_link(link, open);
}

void PacketPlane::note_node(NodeIndex node, std::vector<NodeIndex>& nodes) {
  if (std::ranges::find(nodes, node) == nodes.end()) nodes.push_back(node);
}

void PacketPlane::changed(const Change& change, Picoseconds at) {
  catch_up(at);
  const Fabric& fabric = view_.description();
  const NodeIndex index = change.node != no_node ? change.node : fabric.port(change.port).node;
  const auto each_port = [&](auto f) {
    if (change.port != no_port) {
      f(change.port);
      return;
    }
    const Node& node = fabric.node(index);
    for (std::uint32_t p = 0; p <= node.port_count; ++p) f(PortIndex{node.first_port.raw() + p});
  };
  switch (change.kind) {
    case Change::Kind::ForwardingTable:
      if (element_of_node_[index.raw()] != packet::nothing) note_node(index, stale_rows_);
      break;
    case Change::Kind::MulticastTable:  // messages are unicast
      break;
    case Change::Kind::Lid:
      all_rows_stale_ = true;
      break;
    case Change::Kind::PortState:
      each_port([this](PortIndex port) { set_state(port); });
      break;
    case Change::Kind::SlToVl:
      note_node(index, stale_lanes_);
      break;
    case Change::Kind::VlArbitration:  // or its number of VLs, which SL2VL depends on
      note_node(index, stale_lanes_);
      each_port([this, &fabric](PortIndex port) {
        if (fabric.port(port).link != no_link) stale_arbitration_.push_back(port);
      });
      break;
  }
}

// --- counters ---

PortTotals PacketPlane::read(PortIndex port, Picoseconds now) {
  catch_up(now);
  const PortCount sent = sim_.count(port);
  PortTotals totals;
  totals.xmit_data = sent.flits * words_per_flit;
  totals.xmit_packets = sent.packets;
  totals.xmit_wait = sent.stalled * static_cast<std::uint64_t>(cycle_.count()) / counter_tick.count();
  totals.xmit_discards = sent.discards;
  totals.inactive_discards = sent.inactive;
  const Port& at = view_.description().port(port);
  if (const auto peer = view_.description().peer({at.node, at.num})) {
    const PortCount received = sim_.count(view_.description().port_index(*peer));
    totals.rcv_data = received.flits * words_per_flit;
    totals.rcv_packets = received.packets;
  }
  return totals;
}

VlTotals PacketPlane::read_vls(PortIndex port, Picoseconds now) {
  catch_up(now);
  VlTotals totals;
  for (unsigned vl = 0; vl < totals.xmit_data.size(); ++vl) {
    const LaneCount lane = sim_.lane_count(port, vl);
    totals.xmit_data[vl] = lane.flits * words_per_flit;
    totals.xmit_packets[vl] = lane.packets;
    totals.xmit_wait[vl] = lane.stalled * static_cast<std::uint64_t>(cycle_.count()) / counter_tick.count();
  }
  return totals;
}

/// A flit is a credit of 64 bytes.
std::uint32_t PacketPlane::queue_depth(PortIndex port, Vl vl, Picoseconds now) {
  catch_up(now);
  return static_cast<std::uint32_t>(sim_.queued_flits(port, vl.raw()));
}

Picoseconds PacketPlane::queue_delay(PortIndex port, Vl vl, Picoseconds now) {
  return cycle_ * queue_depth(port, vl, now);
}

}  // namespace heddle::sim
