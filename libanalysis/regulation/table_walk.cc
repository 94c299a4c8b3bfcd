#include "regulation/table_walk.h"

#include <algorithm>
#include <cmath>

namespace heddle::regulation {

using routing::HopMap;
using routing::SwitchIndex;
using routing::Target;
using routing::TargetKind;

TableWalk::TableWalk(const Network& network, const routing::ForwardingTables& tables, unsigned plane)
    : network_{network}, tables_{tables}, hops_{network.graph()}, columns_{network.graph().size()} {
  const auto& graph = network.graph();
  of_target_.resize(graph.targets().size());
  for (std::uint32_t t = 0; t < graph.targets().size(); ++t) {
    const Target& target = graph.targets()[t];
    if (target.kind != TargetKind::Host) continue;
    const std::size_t first = lids_.size();
    for (unsigned i = plane % target.lid_count(); i < target.lid_count(); i += network.planes()) {
      lids_.push_back({Lid{static_cast<std::uint16_t>(target.base.raw() + i)}, t, 1});
    }
    for (std::size_t i = first; i < lids_.size(); ++i)
      lids_[i].part = 1.0 / static_cast<double>(lids_.size() - first);
    of_target_[t] = {static_cast<std::uint32_t>(first), static_cast<std::uint32_t>(lids_.size() - first)};
  }
  position_.resize(graph.size());
  for (const SwitchIndex s : network.ranks().order()) {
    position_[s.raw()] = static_cast<std::uint32_t>(by_position_.size());
    by_position_.push_back(s.raw());
  }
  next_.resize(graph.size());
  to_.resize(graph.size());
}

void TableWalk::load_column(Lid lid) {
  const std::size_t block = lid.raw() / routing::lids_per_block;
  if (block != block_) columns_.load(tables_, block);
  block_ = block;
  const std::uint8_t* column = columns_.column(lid);
  for (std::size_t p = 0; p < by_position_.size(); ++p) {
    const std::uint32_t s = by_position_[p];
    const std::uint32_t hop = hops_.hop(s, column[s]);
    next_[p] = hop;
    if (hop != HopMap::none) to_[p] = position_[hops_.peer(hop)];
  }
}

std::vector<double> TableWalk::loads(const Traffic& traffic) {
  const auto& graph = network_.graph();
  std::vector<double> result(graph.hop_count(), 0);
  std::vector<double> here(graph.size());
  const std::size_t n = by_position_.size();
  for (const DestinationLid& each : lids_) {
    const double share = traffic.share[each.target] * each.part;
    if (share <= 0) continue;
    const SwitchIndex at = graph.targets()[each.target].at;
    const std::uint32_t to = network_.host_position(at);
    load_column(each.lid);
    std::fill(here.begin(), here.end(), 0);
    const auto hosts = network_.host_switches();
    for (std::size_t s = 0; s < hosts.size(); ++s)
      here[position_[hosts[s].raw()]] = share * traffic.matrix.at(s, to);
    here[position_[at.raw()]] = 0;
    for (std::size_t p = n; p-- > 0;) {
      if (here[p] <= 0 || next_[p] == HopMap::none || to_[p] >= p) continue;
      result[next_[p]] += here[p];
      here[to_[p]] += here[p];
    }
    for (std::size_t p = 0; p < n; ++p) {
      if (here[p] <= 0 || next_[p] == HopMap::none || to_[p] <= p) continue;
      result[next_[p]] += here[p];
      here[to_[p]] += here[p];
    }
  }
  return result;
}

void TableWalk::scale(std::span<const double> ratio, Traffic& traffic) {
  const auto& graph = network_.graph();
  const auto hosts = network_.host_switches();
  const std::size_t n = by_position_.size();
  std::vector<double> log_ratio(ratio.size());
  for (std::size_t h = 0; h < ratio.size(); ++h) log_ratio[h] = std::log(std::max(ratio[h], 1e-6));
  std::vector<double> sum(n);
  std::vector<std::uint32_t> length(n);
  std::vector<double> factor(hosts.size());
  const auto step = [&](std::size_t p) {
    sum[p] = sum[to_[p]] + log_ratio[next_[p]];
    length[p] = length[to_[p]] + 1;
  };
  for (const SwitchIndex at : hosts) {
    const std::uint32_t to = network_.host_position(at);
    std::fill(factor.begin(), factor.end(), 0);
    double weight = 0;
    for (const std::uint32_t t : graph.targets_at(at)) {
      const auto [first, count] = of_target_[t];
      for (const DestinationLid& each : std::span(lids_).subspan(first, count)) {
        const double share = traffic.share[t] * each.part;
        if (share <= 0) continue;
        weight += share;
        load_column(each.lid);
        std::fill(sum.begin(), sum.end(), 0);
        std::fill(length.begin(), length.end(), 0);
        // Ways down are known from the bottom, ways up from the top: destination first in both.
        for (std::size_t p = n; p-- > 0;) {
          if (next_[p] != HopMap::none && to_[p] > p) step(p);
        }
        for (std::size_t p = 0; p < n; ++p) {
          if (next_[p] != HopMap::none && to_[p] < p) step(p);
        }
        for (std::size_t s = 0; s < hosts.size(); ++s) {
          const std::uint32_t p = position_[hosts[s].raw()];
          if (length[p] > 0) factor[s] += share * std::exp(sum[p] / length[p]);
        }
      }
    }
    for (std::size_t s = 0; s < hosts.size(); ++s) {
      if (factor[s] > 0 && weight > 0)
        traffic.matrix.set(s, to, traffic.matrix.at(s, to) * factor[s] / weight);
    }
  }
}

}  // namespace heddle::regulation
