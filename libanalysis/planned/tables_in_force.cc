#include "planned/tables_in_force.h"

#include <algorithm>
#include <cstring>

namespace heddle::planned {

using routing::ForwardingTables;
using routing::lids_per_block;
using routing::SwitchGraph;
using routing::SwitchIndex;

void TablesInForce::confirm(NodeGuid guid, std::span<const std::uint8_t> has,
                            std::span<const std::uint8_t> asked) {
  std::vector<std::uint8_t>& row = rows_[guid];
  const std::size_t known = row.size();
  const std::size_t size = std::min(has.size(), asked.size());
  if (row.size() < size) row.resize(size, no_path.raw());
  const Instant began{FabricClock::duration{passes_}};
  for (std::size_t begin = 0; begin < size; begin += lids_per_block) {
    const std::size_t bytes = std::min(lids_per_block, size - begin);
    if (std::memcmp(&has[begin], &asked[begin], bytes) != 0) continue;
    for (std::size_t lid = begin; lid < std::min(known, begin + bytes); ++lid) {
      if (row[lid] != has[lid])
        recent_.replaced(Lid{static_cast<std::uint16_t>(lid)}, guid, PortNum{row[lid]}, began,
                         began + FabricClock::duration{1});
    }
    std::memcpy(&row[begin], &has[begin], bytes);
  }
}

void TablesInForce::keep(std::span<const NodeGuid> present) {
  std::vector<NodeGuid> sorted(present.begin(), present.end());
  std::ranges::sort(sorted);
  const auto is_gone = [&](NodeGuid guid) { return !std::ranges::binary_search(sorted, guid); };
  std::erase_if(rows_, [&](const auto& row) { return is_gone(row.first); });
  std::erase_if(doubtful_, is_gone);
}

ForwardingTables TablesInForce::of(const SwitchGraph& graph, Lid top) const {
  ForwardingTables tables(graph.guids(), top);
  for (std::uint32_t s = 0; s < graph.size(); ++s) {
    const auto found = rows_.find(graph.guid(SwitchIndex{s}));
    if (found == rows_.end()) continue;
    const auto row = tables.row(SwitchIndex{s});
    const std::size_t size = std::min(row.size(), found->second.size());
    std::copy_n(found->second.begin(), size, row.begin());
  }
  return tables;
}

}  // namespace heddle::planned
