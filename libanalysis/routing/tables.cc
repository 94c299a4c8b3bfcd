#include "routing/tables.h"

#include <algorithm>
#include <cstring>

namespace heddle::routing {

ForwardingTables::ForwardingTables(std::span<const NodeGuid> switches, Lid top)
    : guids_(switches.begin(), switches.end()),
      top_{top},
      stride_{(top.raw() / lids_per_block + 1) * lids_per_block},
      bytes_(guids_.size() * stride_, no_path.raw()) {}

SwitchIndex ForwardingTables::find(NodeGuid guid) const {
  const auto it = std::find(guids_.begin(), guids_.end(), guid);
  return it == guids_.end() ? no_switch : SwitchIndex{static_cast<std::uint32_t>(it - guids_.begin())};
}

std::vector<BlockRef> differing_blocks(const ForwardingTables& x, const ForwardingTables& y) {
  std::vector<BlockRef> result;
  const std::size_t common = std::min(x.blocks(), y.blocks());
  const ForwardingTables& longer = x.blocks() < y.blocks() ? y : x;
  const auto leads_nowhere = [](std::uint8_t port) { return port == no_path.raw(); };
  for (std::uint32_t i = 0; i < x.switch_count(); ++i) {
    const SwitchIndex s{i};
    for (std::size_t b = 0; b < longer.blocks(); ++b) {
      const bool same =
          b < common ? std::memcmp(x.block(s, b).data(), y.block(s, b).data(), lids_per_block) == 0
                     : std::all_of(longer.block(s, b).begin(), longer.block(s, b).end(), leads_nowhere);
      if (!same) result.push_back({s, static_cast<std::uint16_t>(b)});
    }
  }
  return result;
}

}  // namespace heddle::routing
