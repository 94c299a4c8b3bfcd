/// Fabrics with traffic for the tests of selection, and what every selection has to obey.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "fabric/generators.h"
#include "regulation/selector.h"

namespace heddle::regulation {

using routing::LinkSet;

/// A fabric with traffic, as a selector is given it.
struct Case {
  std::shared_ptr<const Fabric> fabric;
  std::unique_ptr<Network> network;
  power::PowerModel power;
  std::vector<Exempt> exempt;
  LinkSet available;
  LinkSet current;
  MeasuredLoads loads;
  Traffic traffic;
  SelectionProblem problem;

  explicit Case(const std::string& spec, unsigned planes = 1)
      : fabric{*assign_lids(**generate(spec), planes == 1 ? 0 : 1)} {
    NetworkOptions options;
    options.planes = planes;
    for (const Port& port : fabric->ports()) {
      if (fabric->node(port.node).type == NodeType::ChannelAdapter && port.lid != no_lid) {
        options.managers = {port.lid};
        break;
      }
    }
    network = *Network::make(fabric, options);
    exempt = exemptions(*fabric, {}, {}, {});
    available = current = LinkSet::all(*fabric);
  }
  [[nodiscard]] std::uint32_t hosts() const {
    return static_cast<std::uint32_t>(network->graph().host_count());
  }
  [[nodiscard]] double rate(double share) const { return share * network->capacity(LinkIndex{0}); }

  void uniform(double share) {
    std::vector<HostFlow> flows;
    for (std::uint32_t s = 0; s < hosts(); ++s) {
      for (std::uint32_t d = 0; d < hosts(); ++d) {
        if (s != d) flows.push_back({s, d, rate(share) / (hosts() - 1)});
      }
    }
    set(flows);
  }
  void shift(std::uint32_t by, double share) {
    std::vector<HostFlow> flows;
    for (std::uint32_t s = 0; s < hosts(); ++s) flows.push_back({s, (s + by) % hosts(), rate(share)});
    set(flows);
  }
  void set(const std::vector<HostFlow>& flows) {
    traffic = traffic_of(*network, flows);
    loads.hop = predicted_loads(*network, network->tables(current), traffic);
    loads.waiting.assign(loads.hop.size(), 0);
    problem.network = network.get();
    problem.power = &power;
    problem.exempt = exempt;
    problem.available = &available;
    problem.current = &current;
    problem.loads = &loads;
    problem.traffic = &traffic;
  }
  [[nodiscard]] double share_off(const Selection& selection) const {
    return 1 - selection.watts / selection.all_on_watts;
  }
  /// The largest utilization by the tables over these links.
  [[nodiscard]] double busiest(const LinkSet& active, unsigned plane = 0) {
    const auto predicted = predicted_loads(*network, network->tables(active, plane), traffic, plane);
    double most = 0;
    for (std::uint32_t i = 0; i < fabric->links().size(); ++i) {
      const LinkIndex link{i};
      if (network->trunk_of(link) == Network::no_trunk) continue;
      for (const std::uint32_t hop : {network->up_hop(link), network->down_hop(link)})
        most = std::max(most, predicted[hop] / network->capacity(link));
    }
    return most;
  }
  [[nodiscard]] double watts(const LinkSet& active) const {
    double sum = 0;
    for (const Trunk& trunk : network->trunks()) {
      for (const LinkIndex link : trunk.links) {
        if (active.contains(link))
          sum += power.link(*fabric, link, power::mode_of(fabric->link(link))).value();
      }
    }
    return sum;
  }
};

/// Every rule of facts/regulation.md that a set can break.
inline void expect_rules(Case& site, const Selection& selection, double u_on, double before) {
  EXPECT_FALSE(broken_rule(*site.network, selection.active));
  for (std::uint32_t i = 0; i < site.fabric->links().size(); ++i) {
    const LinkIndex link{i};
    const bool active = selection.active.contains(link);
    if (site.exempt[i] != Exempt::No) {
      EXPECT_EQ(active, site.available.contains(link));
    }
    if (active) {
      EXPECT_TRUE(site.available.contains(link));
    }
    EXPECT_EQ(selection.modes[i].on(), active || site.network->trunk_of(link) == Network::no_trunk);
  }
  EXPECT_LE(site.busiest(selection.active), std::max(u_on, before) + 1e-6);
  EXPECT_GE(selection.watts.value(), selection.least_watts.value() - 1e-6);
}

}  // namespace heddle::regulation
