#include "sim/sma.h"

#include <algorithm>

namespace heddle::sim {

using mad::Method;
using mad::SmAttr;
namespace status = mad::status;

bool Sma::answer(const Arrival& arrival, mad::Packet& packet, LinkOrder& order, Picoseconds now) {
  mad::Header header = mad::read_header(packet.mad);
  if (!key_fits(arrival, packet, header, now)) return false;
  if (header.method == Method::TrapRepress) {
    traps_.repressed(arrival.at, mad::decode<mad::Notice>(mad::smp_data(std::as_const(packet.mad))), now);
    return false;
  }
  const mad::PortInfo& own = model_.info(arrival.at);
  Request request{.header = header,
                  .arrival = arrival,
                  .index = model_.wires[arrival.at.raw()].node,
                  .set = header.method == Method::Set,
                  .key_shown = own.m_key == header.m_key || own.m_key_protect == 0,
                  .data = mad::smp_data(packet.mad),
                  .now = now,
                  .order = order};
  header.status = handle(request);
  header.method = Method::GetResp;
  mad::write_header(header, packet.mad);
  return true;
}

bool Sma::key_fits(const Arrival& arrival, const mad::Packet& packet, const mad::Header& header,
                   Picoseconds now) {
  mad::PortInfo& own = model_.info(arrival.at);
  if (own.m_key == 0) return true;
  if (own.m_key == header.m_key) {
    leases_.erase(arrival.at);
    return true;
  }
  // IBA 14.2.4.1: Gets pass below protection level 2.
  if (header.method == Method::Get && own.m_key_protect < 2) return true;
  if (own.m_key_violations != 0xffff) ++own.m_key_violations;
  if (own.m_key_lease_period != 0 && leases_.count(arrival.at) == 0) {
    const std::uint32_t epoch = ++lease_epoch_;
    leases_[arrival.at] = epoch;
    const Picoseconds period = std::chrono::seconds{own.m_key_lease_period};
    schedule_.add(now + period, Event::Kind::LeaseExpired, arrival.at.raw(), epoch);
  }
  traps_.bad_m_key(arrival.at, packet, now);
  return false;
}

void Sma::lease_expired(PortIndex port, std::uint32_t epoch) {
  const auto lease = leases_.find(port);
  if (lease == leases_.end() || lease->second != epoch) return;
  leases_.erase(lease);
  model_.info(port).m_key_protect = 0;
}

std::uint16_t Sma::handle(Request& request) {
  if (request.header.class_version != 1) return status::bad_version;
  if (request.header.method != Method::Get && !request.set) return status::bad_method;
  switch (static_cast<SmAttr>(request.header.attribute)) {
    case SmAttr::NodeDescription:
      return node_description(request);
    case SmAttr::NodeInfo:
      return node_info(request);
    case SmAttr::SwitchInfo:
      return switch_info(request);
    case SmAttr::PortInfo:
      return port_info(request);
    case SmAttr::MlnxExtPortInfo:
      return mlnx_ext_port_info(request);
    case SmAttr::GuidInfo:
      return guid_info(request);
    case SmAttr::PKeyTable:
      return p_key_table(request);
    case SmAttr::SlToVlTable:
      return sl_to_vl(request);
    case SmAttr::VlArbitration:
      return vl_arbitration(request);
    case SmAttr::LinearForwardingTable:
      return forwarding_table(request);
    case SmAttr::MulticastForwardingTable:
      return multicast_table(request);
    case SmAttr::LedInfo:
      return led_info(request);
    case SmAttr::Notice:
    case SmAttr::RandomForwardingTable:
    case SmAttr::SmInfo:
    case SmAttr::VendorDiag:
      break;
  }
  return status::bad_method_attribute;
}

PortIndex Sma::meant(const Request& request, unsigned number) const {
  const NodeState& node = model_.nodes[request.index.raw()];
  if (node.type != NodeType::Switch && number == 0) return request.arrival.at;
  if (number > node.port_count) return no_port;
  return PortIndex{node.first_port.raw() + number};
}

std::uint16_t Sma::node_description(Request& request) {
  if (request.set) return status::bad_method_attribute;
  mad::encode(mad::NodeDescription{model_.fabric->node(request.index).description}, request.data);
  return status::ok;
}

std::uint16_t Sma::node_info(Request& request) {
  if (request.set) return status::bad_method_attribute;
  const NodeState& node = model_.nodes[request.index.raw()];
  const Node& described = model_.fabric->node(request.index);
  mad::NodeInfo info;
  info.type = node.type;
  info.port_count = node.port_count;
  info.system_image_guid = described.system_image_guid != 0 ? described.system_image_guid : node.guid.raw();
  info.node_guid = node.guid;
  info.port_guid = model_.port_guid(request.arrival.at);
  info.partition_cap = p_keys_per_port;
  info.device_id = node.device.id != 0 ? node.device.id : described.device_id;
  info.revision = node.device.revision;
  info.local_port = request.arrival.ingress;
  info.vendor_id = described.vendor_id;
  mad::encode(info, request.data);
  return status::ok;
}

std::uint16_t Sma::switch_info(Request& request) {
  NodeState& node = model_.nodes[request.index.raw()];
  if (node.type != NodeType::Switch) return status::bad_method_attribute;
  if (request.set) {
    const auto wanted = mad::decode<mad::SwitchInfo>(request.data);
    if (wanted.linear_fdb_top >= linear_fdb_cap) return status::bad_field;
    mad::SwitchInfo& own = node.switch_info;
    const bool top_moves = own.linear_fdb_top != wanted.linear_fdb_top;
    own.linear_fdb_top = wanted.linear_fdb_top;
    own.multicast_fdb_top = wanted.multicast_fdb_top;
    own.default_port = wanted.default_port;
    own.default_multicast_primary = wanted.default_multicast_primary;
    own.default_multicast_not_primary = wanted.default_multicast_not_primary;
    own.life_time = wanted.life_time;
    if (wanted.port_state_change) own.port_state_change = false;
    if (top_moves) model_.changed(Change::Kind::ForwardingTable, request.index, no_port, request.now);
  }
  mad::encode(node.switch_info, request.data);
  return status::ok;
}

std::uint16_t Sma::mlnx_ext_port_info(Request& request) {
  const PortIndex port = meant(request, request.header.modifier & 0xffU);
  if (port == no_port) return status::bad_field;
  mad::MlnxExtPortInfo info;
  if (model_.fabric->port(port).speed == LinkSpeed::Fdr10) {
    info.link_speed_supported = 1;
    info.link_speed_enabled = 1;
    info.link_speed_active = model_.wires[port.raw()].up ? 1 : 0;
  }
  mad::encode(info, request.data);
  return status::ok;
}

std::uint16_t Sma::led_info(Request& request) {
  const PortIndex port = meant(request, request.header.modifier & 0xffU);
  if (port == no_port) return status::bad_field;
  if (request.set) model_.led[port] = request.data[0] & 0x80U;
  const auto lit = model_.led.find(port);
  std::fill(request.data.begin(), request.data.end(), std::uint8_t{0});
  request.data[0] = lit == model_.led.end() ? std::uint8_t{0} : lit->second;
  return status::ok;
}

}  // namespace heddle::sim
