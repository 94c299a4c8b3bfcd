/// The multicast forwarding table of a switch as sets of ports, and its blocks (IBA 14.2.5.11): a block has
/// 16 ports of 32 multicast LIDs. Pure.
#pragma once

#include <bitset>
#include <cstdint>
#include <map>

#include "mad/attributes.h"

namespace heddle::provision {

/// Ports by number.
using PortBits = std::bitset<256>;
/// Out of which ports a switch sends packets of a group. Groups that it does not know are not there.
using MulticastTable = std::map<Lid, PortBits>;

/// Which block, as the attribute modifier has it: LIDs / 32 in bits 0 to 8, ports / 16 in bits 28 to 31.
struct MftBlockRef {
  std::uint16_t number = 0;
  std::uint8_t position = 0;

  [[nodiscard]] std::uint32_t modifier() const {
    return std::uint32_t{position} << 28U | std::uint32_t{number};
  }
  friend constexpr auto operator<=>(const MftBlockRef&, const MftBlockRef&) = default;
};

inline constexpr Lid first_multicast_lid{0xc000};
inline constexpr unsigned groups_per_block = 32;
inline constexpr unsigned ports_per_position = 16;

[[nodiscard]] constexpr std::uint16_t block_number(Lid group) {
  return static_cast<std::uint16_t>((group.raw() - first_multicast_lid.raw()) / groups_per_block);
}

[[nodiscard]] mad::MftBlock block_of(const MulticastTable& table, MftBlockRef at);
/// Takes the place of what the table has there.
void put_block(MulticastTable& table, MftBlockRef at, const mad::MftBlock& block);

}  // namespace heddle::provision
