#include "authority/own/multicast_table.h"

namespace heddle::provision {
namespace {

Lid group_at(MftBlockRef at, unsigned entry) {
  return Lid{static_cast<std::uint16_t>(first_multicast_lid.raw() + at.number * groups_per_block + entry)};
}

}  // namespace

mad::MftBlock block_of(const MulticastTable& table, MftBlockRef at) {
  mad::MftBlock block;
  const std::size_t first = std::size_t{at.position} * ports_per_position;
  for (auto it = table.lower_bound(group_at(at, 0)); it != table.end(); ++it) {
    const std::size_t entry = it->first.raw() - group_at(at, 0).raw();
    if (entry >= groups_per_block) break;
    for (unsigned port = 0; port < ports_per_position; ++port) {
      if (it->second[first + port]) block.masks[entry] |= static_cast<std::uint16_t>(1U << port);
    }
  }
  return block;
}

void put_block(MulticastTable& table, MftBlockRef at, const mad::MftBlock& block) {
  const std::size_t first = std::size_t{at.position} * ports_per_position;
  for (unsigned entry = 0; entry < groups_per_block; ++entry) {
    const auto found = table.find(group_at(at, entry));
    if (found == table.end() && block.masks[entry] == 0) continue;
    PortBits& ports = found == table.end() ? table[group_at(at, entry)] : found->second;
    for (unsigned port = 0; port < ports_per_position; ++port) {
      ports[first + port] = (block.masks[entry] >> port & 1U) != 0;
    }
    if (ports.none()) table.erase(group_at(at, entry));
  }
}

}  // namespace heddle::provision
