#include "record/stand_ins.h"

#include "base/network_order.h"
#include "mad/header.h"

namespace heddle::record {
namespace {

/// "key" and how many there were before.
constexpr std::uint64_t first_stand_in = 0x6b65'7900'0000'0001;

// Where keys are, from the MAD's beginning.
constexpr std::size_t m_key_of_smp = 24;           // IBA 14.2.1.1
constexpr std::size_t m_key_of_port_info = 64;     // IBA 14.2.5.6
constexpr std::size_t sm_key_of_sm_info = 72;      // IBA 14.2.5.13, behind the GUID
constexpr std::size_t trap_number = 64 + 4;        // IBA 13.4.8.2
constexpr std::size_t m_key_of_bad_key = 64 + 24;  // IBA 14.2.5.1, trap 256
constexpr std::size_t sm_key_of_sa = 36;           // IBA 15.2.1.1, behind RMPP's header
constexpr unsigned bad_m_key = 256;

}  // namespace

std::uint64_t StandIns::of(std::uint64_t key) {
  if (key == 0) return 0;
  return known_.try_emplace(key, first_stand_in + known_.size()).first->second;
}

void StandIns::replace(mad::Bytes& bytes, std::size_t at) {
  to_network(of(from_network<std::uint64_t>(&bytes[at])), &bytes[at]);
}

mad::Packet StandIns::in(const mad::Packet& packet) {
  mad::Packet out = packet;
  const mad::Header header = mad::read_header(packet.mad);
  if (header.mgmt_class == mad::MgmtClass::SubnAdm) replace(out.mad, sm_key_of_sa);
  if (!mad::is_smp(header)) return out;
  replace(out.mad, m_key_of_smp);
  switch (static_cast<mad::SmAttr>(header.attribute)) {
    case mad::SmAttr::PortInfo:
      replace(out.mad, m_key_of_port_info);
      break;
    case mad::SmAttr::SmInfo:
      replace(out.mad, sm_key_of_sm_info);
      break;
    case mad::SmAttr::Notice:
      if (from_network<std::uint16_t>(&out.mad[trap_number]) == bad_m_key) replace(out.mad, m_key_of_bad_key);
      break;
    default:
      break;
  }
  return out;
}

}  // namespace heddle::record
