/// What the agent of one port is written and read for QoS: VLArbitration blocks, the high limit and SL2VL
/// (IBA 14.2.5.8, 14.2.5.9, 14.2.5.6), made from tables and what the port has room for. Pure.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>

#include "mad/attributes.h"
#include "qos/programming.h"

namespace heddle::vlarb {

using qos::block_count;
using qos::entries_per_block;

struct Image {
  std::array<mad::VlArbBlock, block_count> blocks{};  ///< by block number - 1
  std::array<std::uint8_t, block_count> lengths{};    ///< entries that the port has in each
  qos::HighLimit limit;
  mad::SlToVlTable map;
};

/// Precondition: the tables fit the port. Entries that they have not are of weight 0.
[[nodiscard]] Image image_of(const qos::Programming& programming, const qos::PortCapability& port);

/// How a block that was read differs: "high entry 3: VL2 weight 4 in place of VL2 weight 8 (and 5 more)".
/// Empty where it is as wanted; entries of weight 0 are all alike.
[[nodiscard]] std::string difference(const Image& wanted, std::size_t block, const mad::VlArbBlock& got);
/// "SL 4 to VL0 in place of VL1 (and 2 more)"; empty where they agree.
[[nodiscard]] std::string difference(const mad::SlToVlTable& wanted, const mad::SlToVlTable& got);

}  // namespace heddle::vlarb
