#include "routing/outward_stages.h"

#include <algorithm>
#include <cstdint>

namespace heddle::routing {
namespace {

constexpr std::uint32_t nothing_behind = 0xffffffffU;

/// The switch behind a port; nothing_behind where no switch is.
std::uint32_t behind(const SwitchGraph& graph, SwitchIndex s, PortNum out) {
  const auto hops = graph.hops(s);
  const auto found = std::find_if(hops.begin(), hops.end(), [&](const Hop& hop) { return hop.out == out; });
  return found == hops.end() ? nothing_behind : found->peer.raw();
}

/// By switch, how many switches come before the destination; the number of switches where it is not reached.
std::vector<std::uint32_t> depths(const SwitchGraph& graph, const ForwardingTables& tables,
                                  const Target& target, Lid lid) {
  const auto none = static_cast<std::uint32_t>(graph.size());
  std::vector<std::uint32_t> depth(graph.size(), nothing_behind);
  depth[target.at.raw()] = 0;
  std::vector<std::uint32_t> way;
  for (std::uint32_t s = 0; s < graph.size(); ++s) {
    way.clear();
    std::uint32_t at = s;
    while (at != nothing_behind && depth[at] == nothing_behind && way.size() <= graph.size()) {
      way.push_back(at);
      at = behind(graph, SwitchIndex{at}, tables.port(SwitchIndex{at}, lid));
    }
    std::uint32_t known = at == nothing_behind || depth[at] == nothing_behind ? none : depth[at];
    for (; !way.empty(); way.pop_back()) depth[way.back()] = known = std::min(known + 1, none);
  }
  return depth;
}

}  // namespace

std::vector<std::vector<EntryWrite>> outward_stages(const SwitchGraph& graph, const ForwardingTables& before,
                                                    const ForwardingTables& after,
                                                    std::span<const Lid> lids) {
  std::vector<std::vector<EntryWrite>> stages(graph.size() + 1);
  for (const Target& target : graph.targets()) {
    for (unsigned i = 0; i < target.lid_count(); ++i) {
      const Lid lid{static_cast<std::uint16_t>(target.base.raw() + i)};
      if (std::find(lids.begin(), lids.end(), lid) == lids.end()) continue;
      const std::vector<std::uint32_t> depth = depths(graph, after, target, lid);
      for (std::uint32_t s = 0; s < graph.size(); ++s) {
        const PortNum port = after.port(SwitchIndex{s}, lid);
        if (before.port(SwitchIndex{s}, lid) != port)
          stages[depth[s]].push_back({SwitchIndex{s}, lid, port, Change::Keeps});
      }
    }
  }
  std::erase_if(stages, [](const auto& stage) { return stage.empty(); });
  return stages;
}

}  // namespace heddle::routing
