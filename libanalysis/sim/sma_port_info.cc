// Get and Set of PortInfo (IBA 14.2.5.6).

#include "mad/header.h"
#include "sim/sma.h"

namespace heddle::sim {
namespace {

namespace status = mad::status;

/// OtherLocalChanges of trap 144: LinkWidthEnabled or LinkSpeedEnabled changed.
constexpr std::uint8_t width_or_speed_changed = 0x6;

constexpr std::uint8_t all_supported = 0xff;
constexpr std::uint8_t all_speeds = 0x0f;
constexpr std::uint8_t all_ext_speeds = 0x1f;
constexpr std::uint8_t all_ext2_speeds = 0x7;

/// 0: no change; all ones: what is supported. False for a rate that the port has not.
bool set_enabled(std::uint8_t wanted, std::uint8_t everything, std::uint8_t supported, std::uint8_t& own,
                 bool& differs) {
  if (wanted == 0) return true;
  const std::uint8_t to = wanted == everything ? supported : wanted;
  if ((to & ~unsigned{supported}) != 0) return false;
  differs = differs || own != to;
  own = to;
  return true;
}

/// Whether a Set may take the port from one logical state to the other.
bool legal(PortState from, PortState to) {
  switch (to) {
    case PortState::NoChange:
    case PortState::Down:
      return true;
    case PortState::Armed:
      return from == PortState::Init || from == PortState::Armed;
    case PortState::Active:
      return from == PortState::Armed || from == PortState::Active;
    case PortState::Init:
      return false;
  }
  return false;
}

}  // namespace

std::uint16_t Sma::port_info(Request& request) {
  const PortIndex port = meant(request, request.header.modifier & 0xffU);
  if (port == no_port) return status::bad_field;
  const ExtendedSpeeds kind = model_.nodes[request.index.raw()].traits.extended_speeds;
  const bool knows = (request.header.modifier & mad::knows_extended_speeds) != 0;
  const bool takes_bit = kind == ExtendedSpeeds::Always || kind == ExtendedSpeeds::Asked;
  if (knows && !takes_bit) return status::bad_field;
  std::uint16_t result = status::ok;
  if (request.set) result = set_port_info(request, port);
  mad::PortInfo shown = model_.info(port);
  shown.local_port = request.arrival.ingress;
  if (!request.key_shown) shown.m_key = 0;
  shown.client_reregister = 0;
  if (kind == ExtendedSpeeds::Hidden || (kind == ExtendedSpeeds::Asked && !knows)) {
    shown.link_speed_ext_active = shown.link_speed_ext_supported = shown.link_speed_ext_enabled = 0;
    shown.link_speed_ext2_active = shown.link_speed_ext2_supported = shown.link_speed_ext2_enabled = 0;
  }
  mad::encode(shown, request.data);
  return result;
}

std::optional<LinkOrder> Sma::order_of(const mad::PortInfo& wanted, PortIndex port) const {
  using What = LinkOrder::What;
  const mad::PortInfo& own = model_.info(port);
  const bool stays = wanted.state == PortState::NoChange || wanted.state == PortState::Down;
  switch (wanted.physical) {
    case PhysState::NoChange:
      return LinkOrder{wanted.state == PortState::Down ? What::Bounce : What::None, port};
    case PhysState::Sleep:
      return stays ? std::optional{LinkOrder{What::Sleep, port}} : std::nullopt;
    case PhysState::Disabled:
      return stays ? std::optional{LinkOrder{What::Disable, port}} : std::nullopt;
    case PhysState::Polling: {
      if (!stays) return std::nullopt;
      // A port that polls or trains goes on with it.
      const bool under_way = own.physical == PhysState::Polling || own.physical == PhysState::Training;
      return LinkOrder{under_way ? What::None : What::Poll, port};
    }
    default:
      return std::nullopt;
  }
}

std::uint16_t Sma::set_port_info(Request& request, PortIndex port) {
  const auto wanted = mad::decode<mad::PortInfo>(request.data);
  const NodeState& node = model_.nodes[request.index.raw()];
  const bool is_switch = node.type == NodeType::Switch;
  const bool port0 = is_switch && port == node.first_port;
  if (!is_switch && port != request.arrival.at) return status::bad_field;
  mad::PortInfo& own = model_.info(port);

  LinkOrder order{LinkOrder::What::None, port};
  if (!port0) {
    const auto asked = order_of(wanted, port);
    if (!asked || !legal(own.state, wanted.state)) return status::bad_field;
    order = *asked;
  }
  if (!is_switch || port0) {
    const bool multicast = last_unicast_lid < wanted.lid;
    if (multicast || (wanted.lid == no_lid && own.lid != no_lid)) return status::bad_field;
    if (last_unicast_lid < wanted.master_sm_lid || wanted.lmc > 7) return status::bad_field;
    // A base LID ends in LMC zeros (IBA 4.1.3): with another one the port would answer to none of its LIDs.
    if ((wanted.lid.raw() & ((1U << wanted.lmc) - 1U)) != 0) return status::bad_field;
    if (port0 && !node.switch_info.enhanced_port0 && wanted.lmc != 0) return status::bad_field;
    if (own.lid != wanted.lid || own.lmc != wanted.lmc) {
      model_.set_lid(port, wanted.lid, wanted.lmc, request.now);
    }
    own.m_key = wanted.m_key;
    own.m_key_protect = wanted.m_key_protect;
    own.m_key_lease_period = wanted.m_key_lease_period;
    if (wanted.gid_prefix != 0) own.gid_prefix = wanted.gid_prefix;
    own.master_sm_lid = wanted.master_sm_lid;
    own.master_sm_sl = wanted.master_sm_sl;
    own.subnet_timeout = wanted.subnet_timeout;
    // An order to the port's clients and no setting: kept as the number of such orders, so that whoever
    // stands for these clients misses none, and shown as nothing.
    if (wanted.client_reregister != 0) ++own.client_reregister;
    own.m_key_violations = wanted.m_key_violations == 0 ? std::uint16_t{0} : own.m_key_violations;
    own.p_key_violations = wanted.p_key_violations == 0 ? std::uint16_t{0} : own.p_key_violations;
    own.q_key_violations = wanted.q_key_violations == 0 ? std::uint16_t{0} : own.q_key_violations;
  }
  bool rates_differ = false;
  bool rates_fit = set_enabled(wanted.link_width_enabled, all_supported, own.link_width_supported,
                               own.link_width_enabled, rates_differ);
  rates_fit = set_enabled(wanted.link_speed_enabled, all_speeds, own.link_speed_supported,
                          own.link_speed_enabled, rates_differ) &&
              rates_fit;
  if ((request.header.modifier & mad::knows_extended_speeds) != 0) {
    rates_fit = set_enabled(wanted.link_speed_ext_enabled, all_ext_speeds, own.link_speed_ext_supported,
                            own.link_speed_ext_enabled, rates_differ) &&
                rates_fit;
    rates_fit = set_enabled(wanted.link_speed_ext2_enabled, all_ext2_speeds, own.link_speed_ext2_supported,
                            own.link_speed_ext2_enabled, rates_differ) &&
                rates_fit;
  }
  if (!rates_fit) return status::bad_field;
  if (wanted.link_down_default == 1 || wanted.link_down_default == 2) {
    own.link_down_default = wanted.link_down_default;
  }
  if (wanted.neighbor_mtu != 0) own.neighbor_mtu = wanted.neighbor_mtu;
  bool arbitration_differs = own.vl_high_limit != wanted.vl_high_limit;
  own.vl_high_limit = wanted.vl_high_limit;
  if (wanted.operational_vls != 0) {
    if (wanted.operational_vls > own.vl_cap) return status::bad_field;
    arbitration_differs = arbitration_differs || own.operational_vls != wanted.operational_vls;
    own.operational_vls = wanted.operational_vls;
  }
  own.vl_stall_count = wanted.vl_stall_count;
  own.hoq_life = wanted.hoq_life;
  own.partition_enforcement_inbound = wanted.partition_enforcement_inbound;
  own.partition_enforcement_outbound = wanted.partition_enforcement_outbound;
  own.filter_raw_inbound = wanted.filter_raw_inbound;
  own.filter_raw_outbound = wanted.filter_raw_outbound;
  own.local_phys_errors = wanted.local_phys_errors;
  own.overrun_errors = wanted.overrun_errors;
  if (arbitration_differs) {
    model_.changed(Change::Kind::VlArbitration, request.index, port, request.now);
  }
  if (!port0 && (wanted.state == PortState::Armed || wanted.state == PortState::Active)) {
    model_.set_states(port, wanted.state, own.physical, request.now);
  }
  if (rates_differ) traps_.local_change(port, width_or_speed_changed, request.now);
  request.order = order;
  return status::ok;
}

}  // namespace heddle::sim
