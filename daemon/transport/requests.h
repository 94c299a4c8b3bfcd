/// Builds the packets of requests: SMPs by directed route or by LID, and GMPs. The TID is left to the
/// transaction engine.
#pragma once

#include <cstdint>
#include <span>

#include "base/ids.h"
#include "mad/header.h"
#include "mad/packet.h"

namespace heddle::transport {

struct SmpRequest {
  mad::Method method = mad::Method::Get;
  mad::SmAttr attribute = mad::SmAttr::NodeInfo;
  std::uint32_t modifier = 0;
  std::uint64_t m_key = 0;
};

/// Directed route, both ends on it from end to end (DrSLID and DrDLID permissive): `path` holds the egress
/// ports, the first one that of the local node; empty addresses the local node itself. At most 63 hops.
[[nodiscard]] mad::Packet directed_smp(const SmpRequest& request, std::span<const PortNum> path);
/// To QP0 of a LID.
[[nodiscard]] mad::Packet lid_smp(const SmpRequest& request, Lid dlid);

struct PmaAddress {
  Lid dlid;
  std::uint32_t qp = mad::gsi_qp;  ///< another one after a redirection
  Sl sl;
  std::uint16_t pkey_index = 0;
};
/// Performance management; the attribute's data is the caller's to fill in (mad::gmp_data).
[[nodiscard]] mad::Packet perf_gmp(mad::Method method, mad::PmAttr attribute, std::uint32_t modifier,
                                   const PmaAddress& to);

/// Of the class of Mellanox' devices (mad/firmware.h), to QP1 of a LID.
[[nodiscard]] mad::Packet vendor_gmp(mad::Method method, std::uint16_t attribute, Lid dlid);

}  // namespace heddle::transport
