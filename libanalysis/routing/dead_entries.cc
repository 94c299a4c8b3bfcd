#include "routing/dead_entries.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <set>
#include <utility>

#include "routing/hop_map.h"
#include "routing/outward_stages.h"

namespace heddle::routing {
namespace {

/// By LID: whether it waits in this stage, for packets or for something else.
std::vector<char> waiting(std::span<const EntryWrite> stage, std::size_t lids,
                          const std::function<bool(const EntryWrite&)>& waits) {
  std::vector<char> result(lids, 0);
  for (const EntryWrite& write : stage) {
    const bool for_packets = write.change == Change::Loses || write.change == Change::Follows;
    if (for_packets || waits(write)) result[write.lid.raw()] = 1;
  }
  return result;
}

/// By LID: whether somebody has it.
std::vector<char> owned(const SwitchGraph& graph, std::size_t lids) {
  std::vector<char> result(lids, 0);
  for (const Target& target : graph.targets()) {
    for (unsigned i = 0; i < target.lid_count(); ++i) {
      if (const std::size_t lid = std::size_t{target.base.raw()} + i; lid < lids) result[lid] = 1;
    }
  }
  return result;
}

}  // namespace

std::vector<EntryWrite> dead_entries(const UpdateOrder& order, const ForwardingTables& before,
                                     const ForwardingTables& after, std::span<const BlockRef> differing,
                                     std::span<const std::vector<EntryWrite>> stages,
                                     const std::function<bool(const EntryWrite&)>& waits) {
  if (order.up == nullptr) return {};
  const HopMap map{order.graph};
  const std::vector<char> forwards = hops_over(order.graph, order.up);
  const std::vector<char> is_owned = owned(order.graph, std::max(before.stride(), after.stride()));
  std::set<std::pair<SwitchIndex, Lid>> dead;
  for (const BlockRef& at : differing) {
    for (std::size_t i = 0; i < lids_per_block; ++i) {
      const Lid lid{static_cast<std::uint16_t>(at.block * lids_per_block + i)};
      const PortNum out = before.port(at.sw, lid);
      const std::uint32_t by = map.hop(at.sw.raw(), out.raw());
      const PortNum wanted = after.port(at.sw, lid);
      if (by == HopMap::none || out == wanted) continue;
      if (forwards[by] == 0 || (is_owned[lid.raw()] == 0 && wanted == no_path)) dead.emplace(at.sw, lid);
    }
  }
  if (!dead.empty() && !stages.empty()) {
    const std::vector<EntryWrite>& first = stages.front();
    const std::vector<char> later = waiting(first, std::max(before.stride(), after.stride()), waits);
    for (const EntryWrite& write : first) {
      if (later[write.lid.raw()] == 0) dead.erase({write.sw, write.lid});
    }
  }
  std::vector<EntryWrite> writes;
  writes.reserve(dead.size());
  // They wait for nobody's packets, as an entry that gains a way does.
  for (const auto& [sw, lid] : dead) writes.push_back({sw, lid, no_path, Change::Gains});
  return writes;
}

}  // namespace heddle::routing
