#include "transport/requests.h"

#include <algorithm>
#include <cassert>

namespace heddle::transport {
namespace {

mad::Header header_of(const SmpRequest& request, mad::MgmtClass mgmt_class) {
  mad::Header header;
  header.mgmt_class = mgmt_class;
  header.method = request.method;
  header.attribute = static_cast<std::uint16_t>(request.attribute);
  header.modifier = request.modifier;
  header.m_key = request.m_key;
  return header;
}

}  // namespace

mad::Packet directed_smp(const SmpRequest& request, std::span<const PortNum> path) {
  assert(path.size() <= mad::DirectedRoute::max_hops);
  mad::Packet packet;
  mad::DirectedRoute route;
  route.hop_count = static_cast<std::uint8_t>(path.size());
  std::copy(path.begin(), path.end(), route.initial_path.begin() + 1);
  mad::write_directed_route(route, packet.mad);
  mad::write_header(header_of(request, mad::MgmtClass::SubnDirected), packet.mad);
  return packet;
}

mad::Packet lid_smp(const SmpRequest& request, Lid dlid) {
  mad::Packet packet;
  packet.address.dlid = dlid;
  mad::write_header(header_of(request, mad::MgmtClass::SubnLid), packet.mad);
  return packet;
}

mad::Packet perf_gmp(mad::Method method, mad::PmAttr attribute, std::uint32_t modifier,
                     const PmaAddress& to) {
  mad::Packet packet;
  packet.address = {
      .dlid = to.dlid, .dqp = to.qp, .sqp = mad::gsi_qp, .sl = to.sl, .pkey_index = to.pkey_index};
  mad::Header header;
  header.mgmt_class = mad::MgmtClass::Perf;
  header.method = method;
  header.attribute = static_cast<std::uint16_t>(attribute);
  header.modifier = modifier;
  mad::write_header(header, packet.mad);
  return packet;
}

mad::Packet vendor_gmp(mad::Method method, std::uint16_t attribute, Lid dlid) {
  mad::Packet packet;
  packet.address = {.dlid = dlid, .dqp = mad::gsi_qp, .sqp = mad::gsi_qp, .sl = {}, .pkey_index = 0};
  mad::Header header;
  header.mgmt_class = mad::MgmtClass::Mellanox;
  header.method = method;
  header.attribute = attribute;
  mad::write_header(header, packet.mad);
  return packet;
}

}  // namespace heddle::transport
