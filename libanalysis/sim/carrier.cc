#include "sim/carrier.h"

#include <algorithm>

#include "base/network_order.h"

namespace heddle::sim {
namespace {

// Places in a directed-route SMP (IBA 14.2.1.2), read without copying both paths.
constexpr std::size_t hop_pointer_at = 6;
constexpr std::size_t hop_count_at = 7;
constexpr std::size_t dr_slid_at = 32;
constexpr std::size_t dr_dlid_at = 34;
constexpr std::size_t initial_path_at = 128;
constexpr std::size_t return_path_at = 192;

Lid lid_at(const mad::Bytes& smp, std::size_t at) { return Lid{from_network<std::uint16_t>(&smp[at])}; }

bool is_smp(mad::MgmtClass mgmt_class) {
  return mgmt_class == mad::MgmtClass::SubnLid || mgmt_class == mad::MgmtClass::SubnDirected;
}

}  // namespace

PortIndex Carrier::cross(PortIndex out, bool smp) {
  const Wire& wire = model_.wires[out.raw()];
  if (wire.peer == no_port || !wire.up) return no_port;
  if (!smp && !(wire.active && model_.wires[wire.peer.raw()].takes)) return no_port;
  counters_.count_management(out, wire.peer);
  return wire.peer;
}

Carrier::Way Carrier::by_lid(PortIndex from, Lid to, mad::MgmtClass mgmt_class, Sl sl, Picoseconds now) {
  const bool smp = is_smp(mgmt_class);
  if (!model_.node_of(from).alive) return {};
  if (model_.answers_to(from, to) || (smp && to == permissive_lid)) {
    return {true, {from, model_.wires[from.raw()].num}, Picoseconds{0}};
  }
  Way way;
  PortIndex in = from;
  for (int hop = 0; hop < max_hops; ++hop) {
    const NodeState& node = model_.node_of(in);
    PortIndex out = in;
    if (node.type == NodeType::Switch) {
      const bool beyond = to.raw() >= node.lft.size() || to.raw() > node.switch_info.linear_fdb_top;
      const PortNum next = beyond ? no_path : node.lft[to.raw()];
      if (next == PortNum{0}) {
        if (hop == 0 || !model_.answers_to(node.first_port, to)) return {};
        way.arrives = true;
        way.where = {node.first_port, model_.wires[in.raw()].num};
        return way;
      }
      if (next.raw() > node.port_count) return {};
      out = model_.port_of(node, next);
    } else if (hop > 0) {
      if (!model_.answers_to(in, to)) return {};
      way.arrives = true;
      way.where = {in, model_.wires[in.raw()].num};
      return way;
    }
    if (!smp && model_.options.congested_gmps && counters_.source() != nullptr) {
      const Vl vl = model_.vl(node, model_.wires[in.raw()].num, model_.wires[out.raw()].num, sl);
      way.wait += counters_.source()->queue_delay(out, vl, now);
    }
    in = cross(out, smp);
    if (in == no_port) return {};
  }
  return {};
}

Carrier::Way Carrier::outward(PortIndex start, mad::Bytes& smp) {
  const std::size_t hops = smp[hop_count_at];
  if (hops > mad::DirectedRoute::max_hops) return {};
  PortIndex in = start;
  for (std::size_t i = 1; i <= hops; ++i) {
    const NodeState& node = model_.node_of(in);
    const PortNum next{smp[initial_path_at + i]};
    if (next == PortNum{0} || next.raw() > node.port_count) return {};
    const PortIndex out = model_.port_of(node, next);
    // A channel adapter sends by the port that it was asked to use, and passes nothing on.
    if (node.type != NodeType::Switch && (i > 1 || out != in)) return {};
    in = cross(out, true);
    if (in == no_port) return {};
    smp[return_path_at + i] = model_.wires[in.raw()].num.raw();
  }
  smp[hop_pointer_at] = static_cast<std::uint8_t>(hops + 1);
  return {true, {model_.management_port(in), model_.wires[in.raw()].num}, Picoseconds{0}};
}

Carrier::Way Carrier::homeward(PortIndex from, mad::Bytes& smp, Picoseconds now) {
  const std::size_t hops = smp[hop_count_at];
  if (hops > mad::DirectedRoute::max_hops) return {};
  PortIndex in = from;
  for (std::size_t i = hops; i > 0; --i) {
    const NodeState& node = model_.node_of(in);
    const PortNum next{smp[return_path_at + i]};
    if (next == PortNum{0} || next.raw() > node.port_count) return {};
    const PortIndex out = model_.port_of(node, next);
    if (node.type != NodeType::Switch && (i < hops || out != in)) return {};
    in = cross(out, true);
    if (in == no_port) return {};
  }
  smp[hop_pointer_at] = 0;
  const Lid dr_slid = lid_at(smp, dr_slid_at);
  if (dr_slid != permissive_lid) {
    return by_lid(model_.management_port(in), dr_slid, mad::MgmtClass::SubnLid, Sl{}, now);
  }
  return {true, {model_.management_port(in), model_.wires[in.raw()].num}, Picoseconds{0}};
}

Carrier::Way Carrier::directed(PortIndex from, Lid to, mad::Bytes& smp, Picoseconds now) {
  if (!model_.node_of(from).alive) return {};
  // A route that ends in a part by LID is not carried: no program sends one.
  if (lid_at(smp, dr_dlid_at) != permissive_lid) return {};
  const bool returning = (smp[4] & 0x80U) != 0;
  if (returning) return homeward(from, smp, now);
  if (smp[hop_pointer_at] != 0) return {};
  if (lid_at(smp, dr_slid_at) == permissive_lid) return outward(from, smp);
  const Way first = by_lid(from, to, mad::MgmtClass::SubnLid, Sl{}, now);
  return first.arrives ? outward(first.where.at, smp) : first;
}

Carrier::Memory& Carrier::memory_of(PortIndex client) {
  const auto found = std::find_if(memories_.begin(), memories_.end(),
                                  [&](const Memory& memory) { return memory.client == client; });
  if (found != memories_.end()) return *found;
  memories_.push_back({client, {}, {}});
  return memories_.back();
}

Carrier::Way Carrier::from_client(PortIndex client, Lid to, Sl sl, Picoseconds now) {
  if (!remembers()) return by_lid(client, to, mad::MgmtClass::Perf, sl, now);
  auto& known = memory_of(client).out;
  if (known.size() <= to.raw()) known.resize(to.raw() + 1U);
  Known& entry = known[to.raw()];
  if (entry.generation != model_.generation) {
    entry = {model_.generation, by_lid(client, to, mad::MgmtClass::Perf, sl, now)};
  }
  return entry.way;
}

Carrier::Way Carrier::to_client(PortIndex from, PortIndex client, Lid to, Sl sl, Picoseconds now) {
  if (!remembers()) return by_lid(from, to, mad::MgmtClass::Perf, sl, now);
  auto& known = memory_of(client).back;
  if (known.empty()) known.resize(model_.wires.size());
  KnownBack& entry = known[from.raw()];
  if (entry.generation != model_.generation || entry.to != to) {
    const Way way = by_lid(from, to, mad::MgmtClass::Perf, sl, now);
    if (way.arrives && way.where.at != client) return way;
    entry = {model_.generation, to, way.arrives};
  }
  if (!entry.arrives) return {};
  return {true, {client, model_.wires[client.raw()].num}, Picoseconds{0}};
}

}  // namespace heddle::sim
