#include "sim/model.h"

#include <algorithm>
#include <utility>

namespace heddle::sim {
namespace {

std::uint8_t vl_code(std::uint8_t data_vls) {
  std::uint8_t code = 1;
  while (code < 5 && mad::data_vls(code) < data_vls) ++code;
  return code;
}

// Bits of the CapabilityMask that attributes.h has no use for (IBA 14.2.5.6).
constexpr std::uint32_t cap_system_image_guid = 1U << 11U;
constexpr std::uint32_t cap_vendor_class = 1U << 13U;
constexpr std::uint32_t cap_client_reregister = 1U << 25U;

}  // namespace

Model::Model(std::shared_ptr<const Fabric> description, const Options& given)
    : fabric{std::move(description)}, options{given} {
  nodes.resize(fabric->nodes().size());
  wires.resize(fabric->ports().size());
  infos.resize(fabric->ports().size());
  links.resize(fabric->links().size());
  for (std::uint32_t i = 0; i < links.size(); ++i) {
    const Link& cable = fabric->link(LinkIndex{i});
    links[i].a = fabric->port_index(cable.a);
    links[i].b = fabric->port_index(cable.b);
    links[i].training_delay = options.training_delay;
    links[i].draws_training = options.longest_training > options.training_delay;
    wires[links[i].a.raw()].peer = links[i].b;
    wires[links[i].b.raw()].peer = links[i].a;
  }
  for (std::uint32_t n = 0; n < nodes.size(); ++n) power_on(NodeIndex{n});
  for (std::uint32_t i = 0; i < links.size(); ++i) {
    const bool up = wires[links[i].a.raw()].up && wires[links[i].b.raw()].up;
    links[i].phase = up ? LinkState::Phase::Up : LinkState::Phase::Down;
  }
}

void Model::power_on(NodeIndex index) {
  const Node& described = fabric->node(index);
  NodeState& node = nodes[index.raw()];
  node.type = described.type;
  node.port_count = described.port_count;
  node.first_port = described.first_port;
  node.guid = described.guid;
  node.traits = options.traits;
  if (node.type == NodeType::Switch) {
    node.switch_info.linear_fdb_cap = linear_fdb_cap;
    node.switch_info.multicast_fdb_cap = mft_lids;
    node.switch_info.enhanced_port0 = described.enhanced_port0;
    node.switch_info.life_time = 18;
    node.switch_info.optimized_sl_to_vl = options.traits.optimized_sl2vl ? 1 : 0;
  }
  for (unsigned p = 0; p <= node.port_count; ++p) {
    const PortIndex port{node.first_port.raw() + p};
    wires[port.raw()].node = index;
    wires[port.raw()].num = PortNum{static_cast<std::uint8_t>(p)};
    power_on_port(port);
  }
}

namespace {

/// Of a device that one of its cables shows to have them.
bool has_extended_speeds(const Fabric& fabric, NodeIndex index) {
  const Node& node = fabric.node(index);
  for (std::uint32_t p = 0; p <= node.port_count; ++p) {
    if (fabric.port(PortIndex{node.first_port.raw() + p}).speed >= LinkSpeed::Fdr) return true;
  }
  return false;
}

}  // namespace

void Model::power_on_port(PortIndex port) {
  const Port& described = fabric->port(port);
  const NodeState& node = node_of(port);
  Wire& wire = wires[port.raw()];
  mad::PortInfo& own = info(port);
  own = {};
  const bool port0 = wire.num == PortNum{0};
  const bool managed = node.type != NodeType::Switch || port0;
  const bool extended = has_extended_speeds(*fabric, wire.node);
  if (managed) {
    own.gid_prefix = 0xfe80000000000000;
    own.capability_mask = mad::port_cap::automatic_migration | mad::port_cap::sl_mapping |
                          cap_system_image_guid | cap_vendor_class |
                          (extended ? mad::port_cap::extended_speeds : 0U) | mad::port_cap::capability_mask2 |
                          cap_client_reregister;
    if (node.traits.traps) own.capability_mask |= mad::port_cap::trap;
    own.m_key = options.m_key;
    own.m_key_protect = options.m_key_protect;
    own.guid_cap = guids_per_port;
    own.subnet_timeout = 18;
    own.resp_time_value = 16;
  }
  const LinkWidth width = described.width == LinkWidth::None ? LinkWidth::X4 : described.width;
  const LinkSpeed speed = described.speed == LinkSpeed::None ? LinkSpeed::Sdr : described.speed;
  if (managed && speed == LinkSpeed::Xdr) own.capability_mask2 |= mad::port_cap2::extended_speeds2;
  mad::set_width(width, own);
  mad::set_speed(speed, own);
  // A device that has extended speeds has them at each port, whatever is plugged in.
  if (extended && own.link_speed_ext_supported == 0) own.link_speed_ext_supported = 1;
  own.link_down_default = 2;
  own.mtu_cap = 5;
  own.neighbor_mtu = 5;
  own.vl_cap = vl_code(node.traits.data_vls);
  own.operational_vls = own.vl_cap;
  own.vl_arb_low_cap = node.traits.arbitration_cap;
  own.vl_arb_high_cap = node.traits.arbitration_cap;
  own.hoq_life = 16;
  own.local_phys_errors = 8;
  own.overrun_errors = 8;
  const bool cabled = wire.peer != no_port;
  own.state = PortState::Down;
  own.physical = PhysState::Polling;
  if (port0 && node.type == NodeType::Switch) {
    own.state = PortState::Active;
    own.physical = PhysState::LinkUp;
  } else if (cabled) {
    own.state = options.lids == Lids::Keep ? described.state : PortState::Init;
    own.physical = options.lids == Lids::Keep ? described.physical : PhysState::LinkUp;
  }
  mirror_states(port);
  if (options.lids == Lids::Keep && managed) set_lid(port, described.lid, described.lmc, Picoseconds{0});
}

PortIndex Model::management_port(PortIndex port) const {
  const NodeState& node = node_of(port);
  return node.type == NodeType::Switch ? node.first_port : port;
}

PortGuid Model::port_guid(PortIndex port) const {
  const PortGuid described = fabric->port(port).guid;
  if (described != PortGuid{}) return described;
  const NodeState& node = node_of(port);
  const bool is_switch = node.type == NodeType::Switch;
  return PortGuid{node.guid.raw() + (is_switch ? 0U : wires[port.raw()].num.raw())};
}

Vl Model::vl(const NodeState& node, PortNum in, PortNum out, Sl sl) const {
  if (node.sl_to_vl.empty()) {
    return default_vl(sl, info(port_of(node, out)).operational_vls);
  }
  const unsigned row = node.type == NodeType::Switch ? in.raw() : 0U;
  return node.sl_to_vl[row * (node.port_count + 1U) + out.raw()][sl.raw() & 0xfU];
}

void Model::set_lid(PortIndex port, Lid lid, std::uint8_t lmc, Picoseconds now) {
  mad::PortInfo& own = info(port);
  if (own.lid == lid && own.lmc == lmc && lid == no_lid) return;
  if (own.lid != no_lid) {
    const std::size_t last = own.lid.raw() + (std::size_t{1} << own.lmc);
    for (std::size_t i = own.lid.raw(); i < last && i < by_lid.size(); ++i) {
      if (by_lid[i] == port) by_lid[i] = no_port;
    }
  }
  const bool differs = own.lid != lid || own.lmc != lmc;
  own.lid = lid;
  own.lmc = lmc;
  if (lid != no_lid && lid <= last_unicast_lid) {
    const std::size_t last = lid.raw() + (std::size_t{1} << lmc);
    if (by_lid.size() < last) by_lid.resize(last, no_port);
    for (std::size_t i = lid.raw(); i < last; ++i) by_lid[i] = port;
  }
  if (differs) changed(Change::Kind::Lid, wires[port.raw()].node, port, now);
}

void Model::set_states(PortIndex port, PortState state, PhysState physical, Picoseconds now) {
  mad::PortInfo& own = info(port);
  if (own.state == state && own.physical == physical) return;
  if (own.state == PortState::Active && state != PortState::Active) {
    const DeadEnds found = entries_over(*this, node_of(port), wires[port.raw()].num);
    dead_ends.unicast += found.unicast;
    dead_ends.multicast += found.multicast;
  }
  own.state = state;
  own.physical = physical;
  mirror_states(port);
  changed(Change::Kind::PortState, wires[port.raw()].node, port, now);
}

void Model::mirror_states(PortIndex port) {
  const mad::PortInfo& own = info(port);
  Wire& wire = wires[port.raw()];
  wire.up = own.physical == PhysState::LinkUp;
  wire.active = own.state == PortState::Active;
  wire.takes = wire.active || own.state == PortState::Armed;
}

void Model::power_off(NodeIndex index, Picoseconds now) {
  NodeState& node = nodes[index.raw()];
  for (unsigned p = 0; p <= node.port_count; ++p) {
    const PortIndex port{node.first_port.raw() + p};
    if (info(port).lid != no_lid) set_lid(port, no_lid, 0, now);
    arbitrations.erase(port);
    p_keys.erase(port);
    guids.erase(port);
    led.erase(port);
    const auto kept = info(port);
    const Lids lids = std::exchange(options.lids, Lids::Clear);
    power_on_port(port);
    options.lids = lids;
    info(port).state = kept.state;
    info(port).physical = kept.physical;
    mirror_states(port);
  }
  node.lft.clear();
  node.mft.clear();
  node.sl_to_vl.clear();
  node.switch_info.linear_fdb_top = 0;
  node.switch_info.port_state_change = false;
  changed(Change::Kind::ForwardingTable, index, no_port, now);
}

void Model::changed(Change::Kind kind, NodeIndex node, PortIndex port, Picoseconds now) {
  changed(Change{kind, node, port}, now);
}

void Model::changed(const Change& change, Picoseconds now) {
  ++generation;
  if (listener != nullptr) listener->changed(change, now);
}

Vl default_vl(Sl sl, std::uint8_t operational_vls) {
  const int vls = std::max(1, mad::data_vls(operational_vls));
  return Vl{static_cast<std::uint8_t>((sl.raw() & 0xfU) % static_cast<unsigned>(vls))};
}

VlArbitration default_arbitration(const mad::PortInfo& info) {
  VlArbitration tables;
  const int vls = mad::data_vls(info.operational_vls);
  const int entries = std::min({vls, 64, int{info.vl_arb_low_cap}});
  for (int i = 0; i < entries; ++i) {
    tables.low[static_cast<std::size_t>(i)] = {Vl{static_cast<std::uint8_t>(i)}, 4};
  }
  return tables;
}

}  // namespace heddle::sim
