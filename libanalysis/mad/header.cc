#include "mad/header.h"

#include <algorithm>

#include "base/network_order.h"

namespace heddle::mad {
namespace {

// The header is on the path of every single MAD, so it is read here directly and not field by field through
// libibmad.

constexpr std::uint16_t direction_bit = 0x8000;

}  // namespace

Header read_header(const Bytes& mad) {
  Header header;
  header.mgmt_class = static_cast<MgmtClass>(mad[1]);
  header.class_version = mad[2];
  header.method = static_cast<Method>(mad[3]);
  header.status = from_network<std::uint16_t>(&mad[4]);
  if (header.mgmt_class == MgmtClass::SubnDirected) header.status &= 0x7fff;
  header.tid = from_network<std::uint64_t>(&mad[8]);
  header.attribute = from_network<std::uint16_t>(&mad[16]);
  header.modifier = from_network<std::uint32_t>(&mad[20]);
  if (is_smp(header)) header.m_key = from_network<std::uint64_t>(&mad[24]);
  return header;
}

void write_header(const Header& header, Bytes& mad) {
  mad[0] = 1;
  mad[1] = static_cast<std::uint8_t>(header.mgmt_class);
  mad[2] = header.class_version;
  mad[3] = static_cast<std::uint8_t>(header.method);
  std::uint16_t bits = header.status;
  if (header.mgmt_class == MgmtClass::SubnDirected) {
    bits =
        static_cast<std::uint16_t>((bits & 0x7fffU) | (from_network<std::uint16_t>(&mad[4]) & direction_bit));
  }
  to_network<std::uint16_t>(bits, &mad[4]);
  to_network<std::uint64_t>(header.tid, &mad[8]);
  to_network<std::uint16_t>(header.attribute, &mad[16]);
  to_network<std::uint16_t>(0, &mad[18]);
  to_network<std::uint32_t>(header.modifier, &mad[20]);
  if (is_smp(header)) to_network<std::uint64_t>(header.m_key, &mad[24]);
}

DirectedRoute read_directed_route(const Bytes& mad) {
  DirectedRoute route;
  route.returning = (from_network<std::uint16_t>(&mad[4]) & direction_bit) != 0;
  route.hop_pointer = mad[6];
  route.hop_count = mad[7];
  route.dr_slid = Lid{from_network<std::uint16_t>(&mad[32])};
  route.dr_dlid = Lid{from_network<std::uint16_t>(&mad[34])};
  for (std::size_t i = 0; i <= DirectedRoute::max_hops; ++i) {
    route.initial_path[i] = PortNum{mad[128 + i]};
    route.return_path[i] = PortNum{mad[192 + i]};
  }
  return route;
}

void write_directed_route(const DirectedRoute& route, Bytes& mad) {
  const auto bits =
      static_cast<std::uint16_t>(from_network<std::uint16_t>(&mad[4]) & ~unsigned{direction_bit});
  to_network<std::uint16_t>(static_cast<std::uint16_t>(bits | (route.returning ? direction_bit : 0U)),
                            &mad[4]);
  mad[6] = route.hop_pointer;
  mad[7] = route.hop_count;
  to_network<std::uint16_t>(route.dr_slid.raw(), &mad[32]);
  to_network<std::uint16_t>(route.dr_dlid.raw(), &mad[34]);
  for (std::size_t i = 0; i <= DirectedRoute::max_hops; ++i) {
    mad[128 + i] = route.initial_path[i].raw();
    mad[192 + i] = route.return_path[i].raw();
  }
}

}  // namespace heddle::mad
