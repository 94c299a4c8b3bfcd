#include "planned/order.h"

#include <algorithm>
#include <optional>

namespace heddle::planned {
namespace {

using routing::SwitchGraph;
using routing::SwitchIndex;

/// Any place keeps the order of the others. Below its neighbours where it has hosts, as a leaf; between two
/// layers, or above one, where it has none.
std::uint16_t place(const SwitchGraph& graph, SwitchIndex s, const std::vector<std::uint16_t>& neighbours) {
  const auto [least, most] = std::ranges::minmax(neighbours);
  if (graph.hosts_at(s) == 0) {
    if (most - least >= 2) return static_cast<std::uint16_t>(least + (most - least) / 2);
    if (least > 0) return static_cast<std::uint16_t>(least - 1);
  }
  return static_cast<std::uint16_t>(std::min<unsigned>(most + 1U, 0xffffU));
}

/// Gives ranks to switches that have none, from those beside them outwards.
void add_missing(const SwitchGraph& graph, std::unordered_map<NodeGuid, std::uint16_t>& known) {
  for (bool found = true; found;) {
    found = false;
    std::vector<std::pair<NodeGuid, std::uint16_t>> placed;
    for (std::uint32_t i = 0; i < graph.size(); ++i) {
      const SwitchIndex s{i};
      if (known.contains(graph.guid(s))) continue;
      std::vector<std::uint16_t> neighbours;
      for (const routing::Hop& hop : graph.hops(s)) {
        const auto it = known.find(graph.guid(hop.peer));
        if (it != known.end()) neighbours.push_back(it->second);
      }
      if (!neighbours.empty()) placed.emplace_back(graph.guid(s), place(graph, s, neighbours));
    }
    for (const auto& [guid, rank] : placed) found = known.emplace(guid, rank).second || found;
  }
  for (const NodeGuid guid : graph.guids()) known.emplace(guid, std::uint16_t{0xffff});
}

}  // namespace

RankList Order::ranks(const SwitchGraph& graph, const plan::Plan* plan) {
  if (plan != nullptr && !plan->ranks.empty()) {
    for (const auto& [guid, rank] : plan->ranks) known_[guid] = rank;
    fixed_ = true;
  }
  const bool all = std::ranges::all_of(graph.guids(), [&](NodeGuid guid) { return known_.contains(guid); });
  if (!all && !fixed_) return {};
  if (!all) add_missing(graph, known_);
  RankList result;
  result.reserve(graph.size());
  for (const NodeGuid guid : graph.guids()) result.emplace_back(guid, known_.at(guid));
  return result;
}

void Order::keep(const SwitchGraph& graph, const routing::Ranks& ranks) {
  for (std::uint32_t s = 0; s < graph.size(); ++s) {
    known_[graph.guid(SwitchIndex{s})] = ranks.rank(SwitchIndex{s});
  }
}

}  // namespace heddle::planned
