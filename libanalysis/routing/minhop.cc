#include "routing/minhop.h"

#include <vector>

namespace heddle::routing {
namespace {

constexpr std::uint32_t unreached = 0xffffffffU;

/// Hops from every switch to `to`.
void measure(const SwitchGraph& graph, const LinkSet& active, SwitchIndex to,
             std::vector<std::uint32_t>& distance, std::vector<SwitchIndex>& queue) {
  distance.assign(graph.size(), unreached);
  distance[to.raw()] = 0;
  queue.assign(1, to);
  for (std::size_t i = 0; i < queue.size(); ++i) {
    const SwitchIndex s = queue[i];
    for (const Hop& hop : graph.hops(s)) {
      if (distance[hop.peer.raw()] != unreached || !active.contains(hop.link)) continue;
      distance[hop.peer.raw()] = distance[s.raw()] + 1;
      queue.push_back(hop.peer);
    }
  }
}

}  // namespace

ForwardingTables route_minhop(const SwitchGraph& graph, const LinkSet& active) {
  ForwardingTables tables(graph);
  std::vector<std::uint32_t> dealt(graph.hop_count(), 0);
  std::vector<std::uint32_t> distance;
  std::vector<SwitchIndex> reached;
  std::vector<std::uint32_t> choices;
  for (std::uint32_t d = 0; d < graph.size(); ++d) {
    const SwitchIndex to{d};
    if (graph.targets_at(to).empty()) continue;
    measure(graph, active, to, distance, reached);
    for (const SwitchIndex s : reached) {
      const auto hops = graph.hops(s);
      choices.clear();
      for (std::uint32_t h = 0; h < hops.size(); ++h) {
        if (active.contains(hops[h].link) && distance[hops[h].peer.raw()] + 1 == distance[s.raw()]) {
          choices.push_back(h);
        }
      }
      for (const std::uint32_t t : graph.targets_at(to)) {
        const Target& target = graph.targets()[t];
        if (target.link != no_link && !active.contains(target.link)) continue;
        for (unsigned i = 0; i < target.lid_count(); ++i) {
          PortNum out = target.out;
          if (s != to) {
            std::uint32_t best = choices.front();
            for (const std::uint32_t h : choices) {
              if (dealt[graph.first_hop(s) + h] < dealt[graph.first_hop(s) + best]) best = h;
            }
            if (target.kind == TargetKind::Host) ++dealt[graph.first_hop(s) + best];
            out = hops[best].out;
          }
          tables.set(s, Lid{static_cast<std::uint16_t>(target.base.raw() + i)}, out);
        }
      }
    }
  }
  return tables;
}

}  // namespace heddle::routing
