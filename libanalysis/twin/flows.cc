#include "twin/flows.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

namespace heddle::twin {
namespace {

using routing::SwitchIndex;
using routing::Target;
using routing::TargetKind;

/// Less is no traffic: bit/s.
constexpr double nothing = 1;

double known(double rate) { return std::isnan(rate) ? 0 : rate; }

class Estimator {
 public:
  Estimator(const regulation::Network& network, const regulation::MeasuredLoads& loads,
            const regulation::Traffic& traffic, std::size_t most)
      : network_{network}, graph_{network.graph()}, loads_{loads}, traffic_{traffic} {
    for (std::uint32_t t = 0; t < graph_.targets().size(); ++t) {
      if (graph_.targets()[t].kind == TargetKind::Host) hosts_.push_back(t);
    }
    wanted_.resize(hosts_.size());
    a_host_ = std::max<std::size_t>(1, most / std::max<std::size_t>(1, hosts_.size()));
  }

  std::vector<sim::TrafficFlow> run() {
    std::vector<double> leaves(network_.host_switches().size());
    for (const std::uint32_t t : hosts_) leaves[position(t)] += known(loads_.sent[t]);
    for (std::size_t h = 0; h < hosts_.size(); ++h) {
      const double sent = known(loads_.sent[hosts_[h]]);
      if (sent < nothing) continue;
      choose(hosts_[h], sent, leaves[position(hosts_[h])]);
      spread(hosts_[h], h);
    }
    return std::move(flows_);
  }

 private:
  [[nodiscard]] std::uint32_t position(std::uint32_t target) const {
    return network_.host_position(graph_.targets()[target].at);
  }

  /// What this host sends to each: its part of what its switch sends there; and to those at its own switch
  /// what is left.
  void choose(std::uint32_t from, double sent, double of_leaf) {
    const std::uint32_t own = position(from);
    const auto row = traffic_.matrix.from(own);
    const double part = sent / of_leaf;
    const double away = std::accumulate(row.begin(), row.end(), 0.0) - row[own];
    const double near = std::max(0.0, sent - part * away);
    double near_share = 0;
    for (const std::uint32_t to : hosts_) {
      if (to != from && position(to) == own) near_share += known(loads_.received[to]);
    }
    for (std::size_t h = 0; h < hosts_.size(); ++h) {
      const std::uint32_t to = hosts_[h];
      const std::uint32_t there = position(to);
      if (to == from) {
        wanted_[h] = 0;
      } else if (there == own) {
        wanted_[h] = near_share > 0 ? near * known(loads_.received[to]) / near_share : 0;
      } else {
        wanted_[h] = part * row[there] * traffic_.share[to];
      }
    }
  }

  /// All of them, or so many as may be, at even steps through what is sent.
  void spread(std::uint32_t from, std::size_t number) {
    double sum = 0;
    std::size_t receivers = 0;
    for (double& rate : wanted_) {
      if (rate < nothing) rate = 0;
      sum += rate;
      receivers += rate > 0 ? 1 : 0;
    }
    if (receivers <= a_host_) {
      for (std::size_t h = 0; h < wanted_.size(); ++h) add(from, hosts_[h], wanted_[h]);
      return;
    }
    const double step = sum / static_cast<double>(a_host_);
    // Neighbours begin at other places, so that together they send to all.
    constexpr double golden = 0.6180339887498949;
    double next = step * std::fmod(golden * static_cast<double>(number + 1), 1.0);
    double passed = 0;
    for (std::size_t h = 0; h < wanted_.size(); ++h) {
      passed += wanted_[h];
      double rate = 0;
      for (; next < passed; next += step) rate += step;
      add(from, hosts_[h], rate);
    }
  }

  void add(std::uint32_t from, std::uint32_t to, double rate) {
    if (rate <= 0) return;
    flows_.push_back(
        {.from = graph_.targets()[from].port, .to = graph_.targets()[to].port, .demand = BitRate{rate}});
  }

  const regulation::Network& network_;
  const routing::SwitchGraph& graph_;
  const regulation::MeasuredLoads& loads_;
  const regulation::Traffic& traffic_;
  std::size_t a_host_ = 1;
  std::vector<std::uint32_t> hosts_;  ///< positions in targets()
  std::vector<double> wanted_;        ///< by host, of the one that is looked at
  std::vector<sim::TrafficFlow> flows_;
};

}  // namespace

std::vector<sim::TrafficFlow> estimate_flows(const regulation::Network& network,
                                             const regulation::MeasuredLoads& loads,
                                             const routing::ForwardingTables& tables, unsigned plane,
                                             std::size_t most) {
  regulation::EstimateOptions options;
  options.plane = plane;
  const regulation::Traffic traffic = regulation::estimate_traffic(network, loads, tables, options);
  return Estimator{network, loads, traffic, most}.run();
}

double unevenness(const regulation::Network& network, const regulation::MeasuredLoads& loads,
                  const routing::ForwardingTables& tables, unsigned plane) {
  regulation::EstimateOptions options;
  options.passes = 0;
  options.plane = plane;
  const auto even = regulation::predicted_loads(
      network, tables, regulation::estimate_traffic(network, loads, tables, options), plane);
  double all = 0;
  double elsewhere = 0;
  for (std::size_t hop = 0; hop < even.size(); ++hop) {
    if (std::isnan(loads.hop[hop])) continue;
    all += loads.hop[hop];
    elsewhere += std::abs(loads.hop[hop] - even[hop]);
  }
  return all < nothing ? 0 : elsewhere / all;
}

regulation::MeasuredLoads loads_of(const regulation::Network& network, std::span<const double> leaving) {
  const routing::SwitchGraph& graph = network.graph();
  const Fabric& fabric = network.fabric();
  constexpr double nobody_knows = std::numeric_limits<double>::quiet_NaN();
  regulation::MeasuredLoads loads;
  for (std::uint32_t s = 0; s < graph.size(); ++s) {
    for (const routing::Hop& hop : graph.hops(SwitchIndex{s}))
      loads.hop.push_back(leaving[fabric.port_index(graph.node(SwitchIndex{s}), hop.out).raw()]);
  }
  loads.waiting.assign(loads.hop.size(), nobody_knows);
  loads.sent.assign(graph.targets().size(), nobody_knows);
  loads.received = loads.sent;
  for (std::size_t t = 0; t < graph.targets().size(); ++t) {
    const Target& target = graph.targets()[t];
    if (target.kind != TargetKind::Host) continue;
    loads.sent[t] = leaving[target.port.raw()];
    loads.received[t] = leaving[fabric.port_index(graph.node(target.at), target.out).raw()];
  }
  return loads;
}

StatedError error_of_estimates() { return {0.02, 0.34}; }

}  // namespace heddle::twin
