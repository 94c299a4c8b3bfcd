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
    at_.resize(network_.host_switches().size());
    for (std::uint32_t t = 0; t < graph_.targets().size(); ++t) {
      if (graph_.targets()[t].kind != TargetKind::Host) continue;
      at_[position(t)].push_back(static_cast<std::uint32_t>(hosts_.size()));
      hosts_.push_back(t);
    }
    a_host_ = std::max<std::size_t>(1, most / std::max<std::size_t>(1, hosts_.size()));
  }

  std::vector<sim::TrafficFlow> run() {
    for (std::uint32_t own = 0; own < at_.size(); ++own) {
      double of_leaf = 0;
      for (const std::uint32_t h : at_[own]) of_leaf += known(loads_.sent[hosts_[h]]);
      if (of_leaf < nothing) continue;
      look_away_from(own);
      for (const std::uint32_t h : at_[own]) {
        const double sent = known(loads_.sent[hosts_[h]]);
        if (sent < nothing) continue;
        part_ = sent / of_leaf;
        choose_near(h, own, std::max(0.0, sent - part_ * leaves_));
        spread(h);
      }
    }
    return std::move(flows_);
  }

 private:
  [[nodiscard]] std::uint32_t position(std::uint32_t target) const {
    return network_.host_position(graph_.targets()[target].at);
  }

  /// What all hosts of a switch send to each that is elsewhere.
  void look_away_from(std::uint32_t own) {
    const auto row = traffic_.matrix.from(own);
    leaves_ = std::accumulate(row.begin(), row.end(), 0.0) - row[own];
    away_.assign(1, 0.0);
    receivers_ = 0;
    for (const std::uint32_t to : hosts_) {
      const std::uint32_t there = position(to);
      const double rate = there == own ? 0 : row[there] * traffic_.share[to];
      receivers_ += rate >= nothing ? 1 : 0;
      away_.push_back(away_.back() + (rate >= nothing ? rate : 0));
    }
  }

  /// What is left goes to those at its own switch.
  void choose_near(std::uint32_t from, std::uint32_t own, double near) {
    double all = 0;
    for (const std::uint32_t h : at_[own]) all += h == from ? 0 : known(loads_.received[hosts_[h]]);
    near_.clear();
    for (const std::uint32_t h : at_[own]) {
      const double rate = h == from || all <= 0 ? 0 : near * known(loads_.received[hosts_[h]]) / all;
      if (rate >= nothing) near_.push_back({h, rate});
    }
  }

  /// All of them, or so many as may be, at even steps through what is sent.
  void spread(std::uint32_t from) {
    if (near_.size() + receivers_ <= a_host_) {
      for (const auto& [to, rate] : near_) add(from, to, rate);
      for (std::uint32_t h = 0; h < hosts_.size(); ++h) add(from, h, part_ * (away_[h + 1] - away_[h]));
      return;
    }
    double sum = part_ * away_.back();
    for (const auto& [to, rate] : near_) sum += rate;
    const double step = sum / static_cast<double>(a_host_);
    // Neighbours begin at other places, so that together they send to all.
    constexpr double golden = 0.6180339887498949;
    double next = step * std::fmod(golden * (from + 1.0), 1.0);
    double passed = 0;
    for (const auto& [to, rate] : near_) {
      passed += rate;
      double chosen = 0;
      for (; next < passed; next += step) chosen += step;
      add(from, to, chosen);
    }
    spread_away(from, next - passed, step);
  }

  /// The same through the others, by looking up who comes next.
  void spread_away(std::uint32_t from, double next, double step) {
    while (next < part_ * away_.back()) {
      const auto after = std::ranges::upper_bound(away_, next / part_);
      if (after == away_.end()) return;
      double chosen = 0;
      for (; next < part_ * *after; next += step) chosen += step;
      if (chosen == 0) return;  // they differ by less than can be told
      add(from, static_cast<std::uint32_t>(after - away_.begin() - 1), chosen);
    }
  }

  void add(std::uint32_t from, std::uint32_t to, double rate) {
    if (rate < nothing) return;
    flows_.push_back({.from = graph_.targets()[hosts_[from]].port,
                      .to = graph_.targets()[hosts_[to]].port,
                      .demand = BitRate{rate}});
  }

  struct Near {
    std::uint32_t host;
    double rate;
  };
  const regulation::Network& network_;
  const routing::SwitchGraph& graph_;
  const regulation::MeasuredLoads& loads_;
  const regulation::Traffic& traffic_;
  std::size_t a_host_ = 1;
  std::vector<std::uint32_t> hosts_;            ///< positions in targets()
  std::vector<std::vector<std::uint32_t>> at_;  ///< positions in hosts_, by that of their switch
  // Of the switch that is looked at:
  std::vector<double> away_;   ///< sums of what it sends to hosts_ elsewhere, beginning with 0
  double leaves_ = 0;          ///< what leaves it
  std::size_t receivers_ = 0;  ///< of that
  // Of one host there:
  double part_ = 0;  ///< of what its switch sends
  std::vector<Near> near_;
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
