/// What a subnet manager writes into the PortInfo of a port, and whether there is anything to write. Pure.
#pragma once

#include <cstdint>

#include "authority/own/lid_plan.h"
#include "base/ids.h"
#include "mad/port_set.h"
#include "mad/survey.h"

namespace heddle::provision {

using mad::modifier_for;
using mad::unchanged;

struct PortPolicy {
  std::uint64_t m_key = 0;
  std::uint64_t gid_prefix = 0xfe80000000000000;
  std::uint8_t lmc = 0;
  std::uint8_t subnet_timeout = 18;  ///< 4.096 us x 2^18: about one second (IBA 14.2.5.6)
  std::uint8_t vls = 5;              ///< OperationalVLs at most, in its code: 5 = VL0-14
  std::uint8_t mtu = 5;              ///< NeighborMTU at most, in its code: 5 = 4096
};

/// A Set writes the whole PortInfo: this is what the port has, with what must not change at its "no change"
/// value, and with LID, SM LID, MTU and VLs as they are to be.
[[nodiscard]] mad::PortInfo settings(const Survey& survey, LinkEnd end, const LidsByPort& lids, Lid sm_lid,
                                     const PortPolicy& policy);
/// Whether the port has these settings already.
[[nodiscard]] bool fulfilled(const mad::PortInfo& has, const mad::PortInfo& wanted, LinkEnd end,
                             const Survey& survey);
/// Whether it answered a Set with what a fabric cannot do without: LID, LMC and the LID of the subnet
/// manager.
[[nodiscard]] bool accepted(const mad::PortInfo& got, const mad::PortInfo& wanted, LinkEnd end,
                            const Survey& survey);

}  // namespace heddle::provision
