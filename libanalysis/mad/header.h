/// The header that all MADs share (IBA 13.4.2), and the directed route of an SMP (IBA 14.2.1.2).
#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "base/ids.h"
#include "mad/packet.h"

namespace heddle::mad {

enum class MgmtClass : std::uint8_t {
  SubnLid = 0x01,
  SubnAdm = 0x03,
  Perf = 0x04,
  Mellanox = 0x0a,
  SubnDirected = 0x81
};

enum class Method : std::uint8_t {
  Get = 0x01,
  Set = 0x02,
  Send = 0x03,
  Trap = 0x05,
  Report = 0x06,
  TrapRepress = 0x07,
  GetResp = 0x81,
  ReportResp = 0x86,
};

/// Attributes of the subnet management class (IBA 14.2.5) and Mellanox' ExtendedPortInfo.
enum class SmAttr : std::uint16_t {
  Notice = 0x0002,
  NodeDescription = 0x0010,
  NodeInfo = 0x0011,
  SwitchInfo = 0x0012,
  GuidInfo = 0x0014,
  PortInfo = 0x0015,
  PKeyTable = 0x0016,
  SlToVlTable = 0x0017,
  VlArbitration = 0x0018,
  LinearForwardingTable = 0x0019,
  RandomForwardingTable = 0x001a,
  MulticastForwardingTable = 0x001b,
  SmInfo = 0x0020,
  VendorDiag = 0x0030,
  LedInfo = 0x0031,
  MlnxExtPortInfo = 0xff90,
};

/// Attributes of the performance management class (IBA 16.1.3).
enum class PmAttr : std::uint16_t {
  ClassPortInfo = 0x0001,
  PortSamplesControl = 0x0010,
  PortSamplesResult = 0x0011,
  PortCounters = 0x0012,
  PortRcvErrorDetails = 0x0015,
  PortXmitDiscardDetails = 0x0016,
  PortOpRcvCounters = 0x0017,
  PortFlowCtlCounters = 0x0018,
  PortVlOpPackets = 0x0019,
  PortVlOpData = 0x001a,
  PortVlXmitFlowCtlUpdateErrors = 0x001b,
  PortVlXmitWaitCounters = 0x001c,
  PortCountersExtended = 0x001d,
  SwPortVlCongestion = 0x0030,
};

/// Status of a response (IBA 13.4.7); the rest of the 16 bits is busy, redirection and class specific.
namespace status {
inline constexpr std::uint16_t ok = 0x0000;
inline constexpr std::uint16_t busy = 0x0001;
inline constexpr std::uint16_t redirect = 0x0002;
inline constexpr std::uint16_t bad_version = 0x0004;
inline constexpr std::uint16_t bad_method = 0x0008;
inline constexpr std::uint16_t bad_method_attribute = 0x000c;
inline constexpr std::uint16_t bad_field = 0x001c;
}  // namespace status

struct Header {
  MgmtClass mgmt_class = MgmtClass::SubnLid;
  std::uint8_t class_version = 1;
  Method method = Method::Get;
  std::uint16_t status = status::ok;  ///< without the direction bit of directed routes
  std::uint64_t tid = 0;
  std::uint16_t attribute = 0;
  std::uint32_t modifier = 0;
  std::uint64_t m_key = 0;  ///< SMPs only
};

[[nodiscard]] Header read_header(const Bytes& mad);
/// Base version 1; leaves the rest of the MAD as it is. The M_Key is written for SMPs only.
void write_header(const Header& header, Bytes& mad);

[[nodiscard]] inline bool is_smp(const Header& header) {
  return header.mgmt_class == MgmtClass::SubnLid || header.mgmt_class == MgmtClass::SubnDirected;
}
[[nodiscard]] inline bool is_response(Method method) {
  return (static_cast<std::uint8_t>(method) & 0x80U) != 0;
}

/// The path of a directed-route SMP. Entry 0 of both paths is unused: hop i leaves through path[i].
struct DirectedRoute {
  static constexpr std::size_t max_hops = 63;

  bool returning = false;  ///< the D bit: 0 outgoing, 1 on the way back
  std::uint8_t hop_count = 0;
  std::uint8_t hop_pointer = 0;
  Lid dr_dlid = permissive_lid;
  Lid dr_slid = permissive_lid;
  std::array<PortNum, max_hops + 1> initial_path{};
  std::array<PortNum, max_hops + 1> return_path{};
};

[[nodiscard]] DirectedRoute read_directed_route(const Bytes& mad);
void write_directed_route(const DirectedRoute& route, Bytes& mad);

/// The bytes of an attribute within a MAD: 64 of an SMP, 192 of a GMP.
[[nodiscard]] inline std::span<std::uint8_t, smp_data_size> smp_data(Bytes& mad) {
  return std::span{mad}.subspan<smp_data_offset, smp_data_size>();
}
[[nodiscard]] inline std::span<const std::uint8_t, smp_data_size> smp_data(const Bytes& mad) {
  return std::span{mad}.subspan<smp_data_offset, smp_data_size>();
}
[[nodiscard]] inline std::span<std::uint8_t, gmp_data_size> gmp_data(Bytes& mad) {
  return std::span{mad}.subspan<gmp_data_offset, gmp_data_size>();
}
[[nodiscard]] inline std::span<const std::uint8_t, gmp_data_size> gmp_data(const Bytes& mad) {
  return std::span{mad}.subspan<gmp_data_offset, gmp_data_size>();
}

}  // namespace heddle::mad
