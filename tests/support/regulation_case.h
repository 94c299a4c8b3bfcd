/// A fabric with known traffic, as a selector is given it.
#pragma once

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "fabric/source.h"
#include "regulation/selector.h"

namespace heddle::testing_support {

struct RegulationCase {
  std::shared_ptr<const Fabric> fabric;
  std::unique_ptr<regulation::Network> network;
  power::PowerModel power;
  std::vector<regulation::Exempt> exempt;
  routing::LinkSet all;
  regulation::MeasuredLoads loads;
  regulation::Traffic traffic;
  regulation::SelectionProblem problem;

  /// A file or a generator.
  explicit RegulationCase(const std::string& source)
      : fabric{*assign_lids(*load_fabric(source).value().fabric)} {
    regulation::NetworkOptions options;
    options.managers = {first_host()};
    network = *regulation::Network::make(fabric, options);
    exempt = regulation::exemptions(*fabric, {}, {}, {});
    all = routing::LinkSet::all(*fabric);
  }

  /// Every host sends this share of its link to all others alike.
  void uniform(double share) {
    const auto hosts = network->host_switches();
    const auto& graph = network->graph();
    const double others = static_cast<double>(graph.host_count()) - 1;
    traffic.matrix = regulation::TrafficMatrix{hosts.size()};
    traffic.share.assign(graph.targets().size(), 0);
    for (std::size_t s = 0; s < hosts.size(); ++s) {
      for (const std::uint32_t t : graph.targets_at(hosts[s])) {
        if (graph.targets()[t].kind == routing::TargetKind::Host)
          traffic.share[t] = 1.0 / graph.hosts_at(hosts[s]);
      }
      for (std::size_t d = 0; d < hosts.size(); ++d) {
        const double each = share * host_rate() * graph.hosts_at(hosts[d]) / others;
        if (s != d) traffic.matrix.set(s, d, each * graph.hosts_at(hosts[s]));
      }
    }
    measure();
  }
  /// Each sends it to the host half of them away.
  void halfway(double share) {
    const auto hosts = static_cast<std::uint32_t>(network->graph().host_count());
    std::vector<regulation::HostFlow> flows;
    for (std::uint32_t h = 0; h < hosts; ++h)
      flows.push_back({h, (h + hosts / 2) % hosts, share * host_rate()});
    traffic = regulation::traffic_of(*network, flows);
    measure();
  }

  /// bit/s by hop that a selection let links carry.
  [[nodiscard]] std::vector<double> limits(const regulation::Selection& selection) const {
    std::vector<double> limits = selection.ceilings;
    for (const regulation::Trunk& trunk : network->trunks()) {
      for (const LinkIndex link : trunk.links) {
        limits[network->up_hop(link)] *= network->capacity(link);
        limits[network->down_hop(link)] *= network->capacity(link);
      }
    }
    return limits;
  }

 private:
  [[nodiscard]] Lid first_host() const {
    for (const Port& port : fabric->ports()) {
      if (fabric->node(port.node).type == NodeType::ChannelAdapter && port.lid != no_lid) return port.lid;
    }
    return no_lid;
  }
  /// bit/s of a host's link: of the first.
  [[nodiscard]] double host_rate() const {
    const auto targets = network->graph().targets();
    const auto host = std::ranges::find(targets, routing::TargetKind::Host, &routing::Target::kind);
    return network->capacity(fabric->port(host->port).link);
  }
  void measure() {
    loads.hop = regulation::predicted_loads(*network, network->tables(all), traffic);
    loads.waiting.assign(loads.hop.size(), 0);
    problem.network = network.get();
    problem.power = &power;
    problem.exempt = exempt;
    problem.available = problem.current = &all;
    problem.loads = &loads;
    problem.traffic = &traffic;
  }
};

}  // namespace heddle::testing_support
