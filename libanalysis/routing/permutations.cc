#include "routing/permutations.h"

#include <algorithm>
#include <cmath>

#include "routing/hop_map.h"

namespace heddle::routing {
namespace {

/// Follows flows and keeps the ways of all, so that each is walked once.
class Walker {
 public:
  Walker(const SwitchGraph& graph, const ForwardingTables& tables)
      : graph_{graph},
        tables_{tables},
        map_{graph},
        hosts_{host_targets(graph)},
        flows_on_(graph.hop_count(), 0) {}

  [[nodiscard]] std::size_t hosts() const { return hosts_.size(); }

  double mean(std::span<const Flow> flows) {
    if (flows.empty()) return 1;
    std::fill(flows_on_.begin(), flows_on_.end(), 0);
    ways_.clear();
    ends_.clear();
    for (const Flow& flow : flows) {
      walk(flow);
      ends_.push_back(ways_.size());
    }
    double sum = 0;
    std::size_t first = 0;
    for (const std::size_t end : ends_) {
      if (end > first && ways_[end - 1] == HopMap::none) {
        first = end;
        continue;
      }
      double fullest = 1;
      for (; first < end; ++first) fullest = std::max(fullest, flows_on_[ways_[first]]);
      sum += 1 / fullest;
    }
    return sum / static_cast<double>(flows.size());
  }

 private:
  void walk(const Flow& flow) {
    const Target& from = graph_.targets()[hosts_[flow.from]];
    const Target& to = graph_.targets()[hosts_[flow.to]];
    const Lid lid = pick_lid(to, flow.from, flow.to);
    std::uint32_t s = from.at.raw();
    for (std::size_t steps = 0; steps <= graph_.size(); ++steps) {
      const std::uint8_t port = tables_.port(SwitchIndex{s}, lid).raw();
      if (s == to.at.raw() && port == to.out.raw()) return;
      const std::uint32_t hop = s == to.at.raw() ? HopMap::none : map_.hop(s, port);
      if (hop == HopMap::none) break;
      flows_on_[hop] += flow.amount;
      ways_.push_back(hop);
      s = map_.peer(hop);
    }
    ways_.push_back(HopMap::none);
  }

  const SwitchGraph& graph_;
  const ForwardingTables& tables_;
  HopMap map_;
  std::vector<std::uint32_t> hosts_;
  std::vector<double> flows_on_;
  std::vector<std::uint32_t> ways_;  ///< hops; ends with none where the flow does not arrive
  std::vector<std::size_t> ends_;    ///< of each flow's in ways_
};

}  // namespace

std::vector<std::uint32_t> hosts_in_order(const SwitchGraph& graph, HostOrder order) {
  const auto hosts = host_targets(graph);
  std::vector<std::uint32_t> result(hosts.size());
  for (std::uint32_t i = 0; i < result.size(); ++i) result[i] = i;
  const auto target = [&](std::uint32_t i) -> const Target& { return graph.targets()[hosts[i]]; };
  if (order == HostOrder::File) {
    std::sort(result.begin(), result.end(),
              [&](std::uint32_t x, std::uint32_t y) { return target(x).port < target(y).port; });
  } else if (order == HostOrder::Leaf) {
    std::sort(result.begin(), result.end(), [&](std::uint32_t x, std::uint32_t y) {
      return std::pair(target(x).at, target(x).out) < std::pair(target(y).at, target(y).out);
    });
  }
  return result;
}

Ratio bandwidth(const SwitchGraph& graph, const ForwardingTables& tables, std::span<const Flow> flows) {
  return Ratio{Walker(graph, tables).mean(flows)};
}

ShiftBandwidth shift_bandwidth(const SwitchGraph& graph, const ForwardingTables& tables, unsigned samples,
                               HostOrder order) {
  Walker walker(graph, tables);
  const std::size_t n = walker.hosts();
  const auto count = std::min<std::size_t>(samples, n < 2 ? 0 : n - 1);
  if (count == 0) return {};
  const auto hosts = hosts_in_order(graph, order);
  double sum = 0;
  double worst = 1;
  for (std::size_t k = 0; k < count; ++k) {
    const std::size_t shift =
        count == 1
            ? 1
            : 1 + static_cast<std::size_t>(std::llround(static_cast<double>(k) * static_cast<double>(n - 2) /
                                                        static_cast<double>(count - 1)));
    std::vector<Flow> flows = shift_pattern(n, shift);
    for (Flow& flow : flows) flow = {hosts[flow.from], hosts[flow.to], flow.amount};
    const double mean = walker.mean(flows);
    sum += mean;
    worst = std::min(worst, mean);
  }
  return {Ratio{sum / static_cast<double>(count)}, Ratio{worst}};
}

Ratio effective_bisection(const SwitchGraph& graph, const ForwardingTables& tables, unsigned samples,
                          Random& random) {
  Walker walker(graph, tables);
  if (walker.hosts() < 2 || samples == 0) return Ratio{1};
  std::vector<std::uint32_t> order(walker.hosts());
  for (std::uint32_t i = 0; i < order.size(); ++i) order[i] = i;
  double sum = 0;
  for (unsigned k = 0; k < samples; ++k) {
    random.shuffle(order);
    std::vector<Flow> flows;
    for (std::size_t i = 0; i + 1 < order.size(); i += 2) {
      flows.push_back({order[i], order[i + 1], 1});
      flows.push_back({order[i + 1], order[i], 1});
    }
    sum += walker.mean(flows);
  }
  return Ratio{sum / samples};
}

}  // namespace heddle::routing
