#include "routing/dead_entries.h"

#include <cstddef>
#include <cstdint>
#include <set>
#include <utility>

#include "routing/hop_map.h"
#include "routing/outward_stages.h"

namespace heddle::routing {
namespace {

using Written = std::pair<SwitchIndex, Lid>;

/// Of LIDs that wait for nobody's packets.
std::set<Written> written_at_once(std::span<const std::vector<EntryWrite>> stages) {
  std::set<Written> written;
  if (stages.empty()) return written;
  std::set<Lid> waiting;
  for (const EntryWrite& write : stages.front()) {
    if (write.change == Change::Loses || write.change == Change::Follows) waiting.insert(write.lid);
  }
  for (const EntryWrite& write : stages.front()) {
    if (!waiting.contains(write.lid)) written.emplace(write.sw, write.lid);
  }
  return written;
}

}  // namespace

std::vector<EntryWrite> dead_entries(const UpdateOrder& order, const ForwardingTables& before,
                                     const ForwardingTables& after, std::span<const BlockRef> differing,
                                     std::span<const std::vector<EntryWrite>> stages) {
  std::vector<EntryWrite> writes;
  if (order.up == nullptr) return writes;
  const HopMap map{order.graph};
  const std::vector<char> forwards = hops_over(order.graph, order.up);
  const std::set<Written> written = written_at_once(stages);
  for (const BlockRef& at : differing) {
    for (std::size_t i = 0; i < lids_per_block; ++i) {
      const Lid lid{static_cast<std::uint16_t>(at.block * lids_per_block + i)};
      const PortNum out = before.port(at.sw, lid);
      const std::uint32_t by = map.hop(at.sw.raw(), out.raw());
      if (by == HopMap::none || forwards[by] != 0 || out == after.port(at.sw, lid)) continue;
      if (!written.contains({at.sw, lid})) writes.push_back({at.sw, lid, no_path, Change::Gains});
    }
  }
  return writes;
}

}  // namespace heddle::routing
