#include "regulation/traffic.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "regulation/table_walk.h"
#include "regulation/traffic_fit.h"
#include "routing/quality.h"

namespace heddle::regulation {
namespace {

using routing::SwitchIndex;
using routing::Target;
using routing::TargetKind;

constexpr double nobody_knows = std::numeric_limits<double>::quiet_NaN();

/// Ports of the network's fabric in the sample's.
class PortFinder {
 public:
  PortFinder(const Fabric& fabric, const load::Sample& sample) : fabric_{fabric}, sample_{sample} {
    same_ = sample.fabric.get() == &fabric;
    if (same_) return;
    for (const Node& node : fabric.nodes()) nodes_.push_back(sample.fabric->find_node(node.guid));
  }
  [[nodiscard]] PortIndex find(NodeIndex node, PortNum port) const {
    if (same_) return fabric_.port_index(node, port);
    const NodeIndex there = nodes_[node.raw()];
    if (there == no_node || port.raw() > sample_.fabric->node(there).port_count) return no_port;
    return sample_.fabric->port_index(there, port);
  }

 private:
  const Fabric& fabric_;
  const load::Sample& sample_;
  bool same_ = false;
  std::vector<NodeIndex> nodes_;
};

double bits(float bytes_per_second) {
  return load::is_known(bytes_per_second) ? 8.0 * static_cast<double>(bytes_per_second) : nobody_knows;
}

double known(double value) { return std::isnan(value) ? 0 : value; }

/// LIDs x switches up to which an estimate is fitted.
constexpr std::size_t most_fitted_entries = 15'000'000;

/// Rows and columns scaled towards what hosts send and receive; never above it, and up to it where a switch
/// has a single host, whose traffic can go nowhere else.
void fit_sums(const Network& network, const std::vector<double>& sent, const std::vector<double>& received,
              TrafficMatrix& matrix) {
  const std::size_t n = matrix.size();
  const auto factor = [&](std::size_t i, double sum, double wanted) {
    if (sum <= 0) return 1.0;
    const bool exact = network.graph().hosts_at(network.host_switches()[i]) == 1;
    return exact || sum > wanted ? wanted / sum : 1.0;
  };
  for (std::size_t s = 0; s < n; ++s) {
    double sum = 0;
    for (std::size_t d = 0; d < n; ++d) sum += matrix.at(s, d);
    const double k = factor(s, sum, sent[s]);
    for (std::size_t d = 0; d < n; ++d) matrix.set(s, d, k * matrix.at(s, d));
  }
  std::vector<double> sums(n, 0);
  for (std::size_t s = 0; s < n; ++s) {
    for (std::size_t d = 0; d < n; ++d) sums[d] += matrix.at(s, d);
  }
  for (std::size_t d = 0; d < n; ++d) sums[d] = factor(d, sums[d], received[d]);
  for (std::size_t s = 0; s < n; ++s) {
    for (std::size_t d = 0; d < n; ++d) matrix.set(s, d, sums[d] * matrix.at(s, d));
  }
}

TrafficMatrix gravity(const Network& network, const std::vector<double>& sent,
                      const std::vector<double>& received) {
  TrafficMatrix matrix{sent.size()};
  double all = 0;
  for (const double rate : received) all += rate;
  for (std::size_t s = 0; s < sent.size(); ++s) {
    const bool alone = network.graph().hosts_at(network.host_switches()[s]) == 1;
    const double elsewhere = alone ? all - received[s] : all;
    if (elsewhere <= 0) continue;
    for (std::size_t d = 0; d < sent.size(); ++d) {
      if (d != s) matrix.set(s, d, sent[s] * received[d] / elsewhere);
    }
  }
  return matrix;
}

/// Of what enters each host switch, the part of each of its targets.
std::vector<double> shares(const Network& network, const std::vector<double>& received) {
  const auto& graph = network.graph();
  std::vector<double> share(graph.targets().size(), 0);
  for (const SwitchIndex s : network.host_switches()) {
    double sum = 0;
    for (const std::uint32_t t : graph.targets_at(s)) {
      if (graph.targets()[t].kind == TargetKind::Host) sum += known(received[t]);
    }
    for (const std::uint32_t t : graph.targets_at(s)) {
      if (graph.targets()[t].kind != TargetKind::Host) continue;
      share[t] = sum > 0 ? known(received[t]) / sum : 1.0 / graph.hosts_at(s);
    }
  }
  return share;
}

}  // namespace

double TrafficMatrix::total() const {
  double sum = 0;
  for (const double rate : rates_) sum += rate;
  return sum;
}

double sent_by_all(const MeasuredLoads& loads) {
  double sum = 0;
  for (const double sent : loads.sent) sum += std::isnan(sent) ? 0 : sent;
  return sum;
}

MeasuredLoads measured_loads(const Network& network, const load::Sample& sample) {
  const auto& graph = network.graph();
  MeasuredLoads loads;
  loads.hop.assign(graph.hop_count(), nobody_knows);
  loads.waiting.assign(graph.hop_count(), nobody_knows);
  loads.sent.assign(graph.targets().size(), nobody_knows);
  loads.received.assign(graph.targets().size(), nobody_knows);
  const PortFinder ports{network.fabric(), sample};
  for (std::uint32_t i = 0; i < graph.size(); ++i) {
    const SwitchIndex s{i};
    std::size_t at = graph.first_hop(s);
    for (const routing::Hop& hop : graph.hops(s)) {
      const PortIndex port = ports.find(graph.node(s), hop.out);
      if (port != no_port && sample.fabric->port(port).link != no_link) {
        loads.hop[at] = bits(load::leaving(*sample.fabric, sample.ports, port));
        const float waiting = sample.port(port).congestion;
        if (load::is_known(waiting)) loads.waiting[at] = static_cast<double>(waiting);
      }
      ++at;
    }
  }
  for (std::size_t t = 0; t < graph.targets().size(); ++t) {
    const Target& target = graph.targets()[t];
    if (target.kind != TargetKind::Host) continue;
    const PortIndex port = ports.find(graph.node(target.at), target.out);
    if (port == no_port || sample.fabric->port(port).link == no_link) continue;
    loads.sent[t] = bits(load::entering(*sample.fabric, sample.ports, port));
    loads.received[t] = bits(load::leaving(*sample.fabric, sample.ports, port));
  }
  return loads;
}

bool is_fitted(const Network& network) {
  return network.graph().targets().size() * network.graph().size() <= most_fitted_entries;
}

namespace {

struct HostSums {
  std::vector<double> sent;
  std::vector<double> received;
};

/// By host position.
HostSums host_sums(const Network& network, const MeasuredLoads& loads) {
  const auto& graph = network.graph();
  HostSums sums{std::vector<double>(network.host_switches().size(), 0), {}};
  sums.received = sums.sent;
  for (std::size_t t = 0; t < graph.targets().size(); ++t) {
    const Target& target = graph.targets()[t];
    if (target.kind != TargetKind::Host) continue;
    sums.sent[network.host_position(target.at)] += known(loads.sent[t]);
    sums.received[network.host_position(target.at)] += known(loads.received[t]);
  }
  return sums;
}

/// To within 5 % of all.
bool alike(const std::vector<double>& x, const std::vector<double>& y) {
  double difference = 0;
  double sum = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    difference += std::abs(x[i] - y[i]);
    sum += x[i];
  }
  return difference <= 0.05 * sum;
}

}  // namespace

Traffic gravity_traffic(const Network& network, const MeasuredLoads& loads) {
  const auto [sent, received] = host_sums(network, loads);
  return {gravity(network, sent, received), shares(network, loads.received)};
}

Traffic estimate_traffic(const Network& network, const MeasuredLoads& loads,
                         const routing::ForwardingTables& tables, const EstimateOptions& options) {
  const auto [sent, received] = host_sums(network, loads);
  Traffic traffic{gravity(network, sent, received), shares(network, loads.received)};
  TrafficMatrix& matrix = traffic.matrix;
  if (options.prior != nullptr && options.prior->size() == matrix.size()) {
    // Part of gravity stays in, so that a pair that was silent can be heard again.
    for (std::size_t s = 0; s < sent.size(); ++s) {
      for (std::size_t d = 0; d < sent.size(); ++d) {
        if (s != d) matrix.set(s, d, 0.9 * options.prior->at(s, d) + 0.1 * matrix.at(s, d));
      }
    }
    fit_sums(network, sent, received, matrix);
  }
  if (options.passes == 0 || !is_fitted(network)) return traffic;

  const Observation seen{&loads, &tables, options.plane};
  if (options.before) {
    const auto [sent_before, received_before] = host_sums(network, *options.before->loads);
    if (alike(sent, sent_before) && alike(received, received_before)) {
      TrafficFit fit{network, sent, received, matrix};
      fit.observe(seen, traffic.share);
      fit.observe(*options.before, traffic.share);
      fit.cap();
      if (fit.run(options.passes) <= 0.05) {
        fit.store(matrix);
        fit_sums(network, sent, received, matrix);
        return traffic;
      }
    }
  }
  TrafficFit fit{network, sent, received, matrix};
  fit.observe(seen, traffic.share);
  fit.cap();
  (void)fit.run(options.passes);
  fit.store(matrix);
  fit_sums(network, sent, received, matrix);
  return traffic;
}

Traffic traffic_of(const Network& network, std::span<const HostFlow> flows) {
  const auto& graph = network.graph();
  const auto hosts = routing::host_targets(graph);
  Traffic traffic{TrafficMatrix{network.host_switches().size()}, {}};
  std::vector<double> received(graph.targets().size(), 0);
  for (const HostFlow& flow : flows) {
    const SwitchIndex from = graph.targets()[hosts[flow.from]].at;
    const SwitchIndex to = graph.targets()[hosts[flow.to]].at;
    if (from == to) continue;
    traffic.matrix.add(network.host_position(from), network.host_position(to), flow.rate);
    received[hosts[flow.to]] += flow.rate;
  }
  traffic.share = shares(network, received);
  return traffic;
}

std::vector<double> predicted_loads(const Network& network, const routing::ForwardingTables& tables,
                                    const Traffic& traffic, unsigned plane) {
  return TableWalk{network, tables, plane}.loads(traffic);
}

}  // namespace heddle::regulation
