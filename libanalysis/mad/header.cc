#include "mad/header.h"

#include <algorithm>

namespace heddle::mad {
namespace {

// The header is on the path of every single MAD, so it is read here directly and not field by field through
// libibmad.

std::uint16_t load16(const std::uint8_t* p) { return static_cast<std::uint16_t>((p[0] << 8U) | p[1]); }
std::uint32_t load32(const std::uint8_t* p) {
  return (static_cast<std::uint32_t>(load16(p)) << 16U) | load16(p + 2);
}
std::uint64_t load64(const std::uint8_t* p) {
  return (static_cast<std::uint64_t>(load32(p)) << 32U) | load32(p + 4);
}
void store16(std::uint8_t* p, std::uint16_t v) {
  p[0] = static_cast<std::uint8_t>(v >> 8U);
  p[1] = static_cast<std::uint8_t>(v);
}
void store32(std::uint8_t* p, std::uint32_t v) {
  store16(p, static_cast<std::uint16_t>(v >> 16U));
  store16(p + 2, static_cast<std::uint16_t>(v));
}
void store64(std::uint8_t* p, std::uint64_t v) {
  store32(p, static_cast<std::uint32_t>(v >> 32U));
  store32(p + 4, static_cast<std::uint32_t>(v));
}

constexpr std::uint16_t direction_bit = 0x8000;

}  // namespace

Header read_header(const Bytes& mad) {
  Header header;
  header.mgmt_class = static_cast<MgmtClass>(mad[1]);
  header.class_version = mad[2];
  header.method = static_cast<Method>(mad[3]);
  header.status = load16(&mad[4]);
  if (header.mgmt_class == MgmtClass::SubnDirected) header.status &= 0x7fff;
  header.tid = load64(&mad[8]);
  header.attribute = load16(&mad[16]);
  header.modifier = load32(&mad[20]);
  if (is_smp(header)) header.m_key = load64(&mad[24]);
  return header;
}

void write_header(const Header& header, Bytes& mad) {
  mad[0] = 1;
  mad[1] = static_cast<std::uint8_t>(header.mgmt_class);
  mad[2] = header.class_version;
  mad[3] = static_cast<std::uint8_t>(header.method);
  std::uint16_t bits = header.status;
  if (header.mgmt_class == MgmtClass::SubnDirected) {
    bits = static_cast<std::uint16_t>((bits & 0x7fffU) | (load16(&mad[4]) & direction_bit));
  }
  store16(&mad[4], bits);
  store64(&mad[8], header.tid);
  store16(&mad[16], header.attribute);
  store16(&mad[18], 0);
  store32(&mad[20], header.modifier);
  if (is_smp(header)) store64(&mad[24], header.m_key);
}

DirectedRoute read_directed_route(const Bytes& mad) {
  DirectedRoute route;
  route.returning = (load16(&mad[4]) & direction_bit) != 0;
  route.hop_pointer = mad[6];
  route.hop_count = mad[7];
  route.dr_slid = Lid{load16(&mad[32])};
  route.dr_dlid = Lid{load16(&mad[34])};
  for (std::size_t i = 0; i <= DirectedRoute::max_hops; ++i) {
    route.initial_path[i] = PortNum{mad[128 + i]};
    route.return_path[i] = PortNum{mad[192 + i]};
  }
  return route;
}

void write_directed_route(const DirectedRoute& route, Bytes& mad) {
  const auto bits = static_cast<std::uint16_t>(load16(&mad[4]) & ~unsigned{direction_bit});
  store16(&mad[4], static_cast<std::uint16_t>(bits | (route.returning ? direction_bit : 0U)));
  mad[6] = route.hop_pointer;
  mad[7] = route.hop_count;
  store16(&mad[32], route.dr_slid.raw());
  store16(&mad[34], route.dr_dlid.raw());
  for (std::size_t i = 0; i <= DirectedRoute::max_hops; ++i) {
    mad[128 + i] = route.initial_path[i].raw();
    mad[192 + i] = route.return_path[i].raw();
  }
}

}  // namespace heddle::mad
