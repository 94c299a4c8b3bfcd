#include "twin/bandwidth.h"

#include <algorithm>

#include "base/random.h"
#include "fabric/link_rate.h"
#include "fabric/links.h"
#include "routing/quality.h"
#include "sim/scenario_hosts.h"
#include "sim/scenario_patterns.h"
#include "twin/flow_loads.h"
#include "twin/flows.h"
#include "twin/view.h"

namespace heddle::twin {
namespace {

using routing::LinkSet;

double rate_of(const Fabric& fabric, LinkIndex index) {
  const Link& link = fabric.link(index);
  return data_rate(link.width, link.speed).value();
}

/// What links between switches carry, but for a tenth of them: single ones that have come up too slow are not
/// to lower what is asked of all.
double usual_rate(const Fabric& fabric, const LinkSet& active) {
  std::vector<double> rates;
  for (std::uint32_t i = 0; i < fabric.links().size(); ++i) {
    if (active.contains(LinkIndex{i}) && joins_switches(fabric, fabric.link(LinkIndex{i})))
      rates.push_back(rate_of(fabric, LinkIndex{i}));
  }
  if (rates.empty()) return 0;
  const auto tenth = rates.begin() + static_cast<std::ptrdiff_t>(rates.size() / 10);
  std::ranges::nth_element(rates, tenth);
  return *tenth;
}

/// What each host may send to each other one. 0 where no cable between switches limits it.
double balanced_share(const Fabric& fabric, const routing::SwitchGraph& graph, const LinkSet& active) {
  const double bound = routing::lower_bound(graph, active);
  return bound > 0 ? usual_rate(fabric, active) / bound : 0;
}

struct Wanted {
  std::vector<sim::TrafficFlow> flows;
  std::vector<double> of_host;  ///< by NodeIndex, both ways
  double each = 0;
};

/// A slow host sends, and is sent, no more than its own link carries.
Wanted evenly(const Fabric& fabric, const std::vector<PortIndex>& hosts, std::size_t receivers,
              double share) {
  const double others = static_cast<double>(hosts.size() - 1);
  const auto own = [&](PortIndex port) { return rate_of(fabric, fabric.port(port).link); };
  sim::Phase phase;
  phase.pattern = sim::Pattern::AllToAll;
  phase.destinations = static_cast<unsigned>(receivers);
  Random random(phase.seed);
  Wanted wanted;
  wanted.of_host.assign(fabric.nodes().size(), 0);
  for (const sim::TrafficPair& pair : sim::make_pairs(phase, hosts, hosts, random)) {
    const double most = std::min(own(pair.from), own(pair.to));
    const double sends = share > 0 ? std::min(most, share * others) : most;
    const double demand = sends * pair.share;
    wanted.flows.push_back({.from = pair.from, .to = pair.to, .demand = BitRate{demand}});
    for (const PortIndex end : {pair.from, pair.to}) wanted.of_host[fabric.port(end).node.raw()] += demand;
    wanted.each = std::max(wanted.each, sends);
  }
  return wanted;
}

/// Of hosts that get as little the first is told, whatever sums were rounded to.
constexpr double rounding_of_shares = 1e-9;

void find_worst(const Wanted& wanted, const Prediction& found, BandwidthRun& run) {
  for (std::uint32_t i = 0; i < wanted.of_host.size(); ++i) {
    if (wanted.of_host[i] <= 0) continue;
    const double gets = std::min(1.0, found.of_host[i] / wanted.of_host[i]);
    if (run.worst == no_node || gets < run.least * (1 - rounding_of_shares)) {
      run.least = gets;
      run.worst = NodeIndex{i};
    }
  }
}

}  // namespace

Result<BandwidthRun> run_bandwidth(const Fabric& fabric, const routing::SwitchGraph& graph,
                                   const routing::ForwardingTables& tables, const LinkSet& active,
                                   unsigned plane) {
  BandwidthRun run;
  const std::vector<PortIndex> hosts = sim::host_ports(fabric);
  run.hosts = hosts.size();
  if (hosts.size() < 2) return run;
  run.receivers = std::clamp<std::size_t>(most_flows / hosts.size(), 1, hosts.size() - 1);
  const Wanted wanted = evenly(fabric, hosts, run.receivers, balanced_share(fabric, graph, active));
  const View view{fabric, graph, tables, active, nullptr};
  const auto found = predict_flows(view, wanted.flows, plane);
  if (!found) return fail(found.error());
  run.each = wanted.each;
  run.flows = found->flows;
  run.unroutable = found->unroutable;
  run.wanted = found->wanted;
  run.carried = found->carried;
  run.busiest = found->busiest;
  run.largest = found->largest;
  find_worst(wanted, *found, run);
  return run;
}

}  // namespace heddle::twin
