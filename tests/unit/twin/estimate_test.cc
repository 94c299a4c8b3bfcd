/// How well flows that are made of loads predict: held to what what-if says of itself.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <iostream>

#include "unit/twin/twin_fixture.h"

namespace heddle::twin {
namespace {

constexpr std::array patterns{"uniform",   "all-to-all", "permutation", "bit-reversal", "bit-complement",
                              "transpose", "tornado",    "neighbour",   "hotspot",      "incast"};

std::string phase_of(std::string_view pattern) {
  return fmt::format("pattern = \"{}\"\nload = 0.3\n", pattern);
}

/// Whatever can be taken out without cutting hosts off: switches without hosts, or each link between
/// switches.
std::vector<routing::LinkSet> outages(const Plant& plant) {
  const routing::SwitchGraph& graph = plant.network->graph();
  std::vector<routing::LinkSet> all;
  for (std::uint32_t s = 0; s < graph.size(); ++s) {
    if (graph.hosts_at(routing::SwitchIndex{s}) != 0) continue;
    all.push_back(plant.all);
    for (const routing::Hop& hop : graph.hops(routing::SwitchIndex{s})) all.back().erase(hop.link);
  }
  for (const regulation::Trunk& trunk : plant.network->trunks()) {
    all.push_back(plant.all);
    all.back().erase(trunk.links.front());
  }
  return all;
}

struct Errors {
  std::vector<double> all;
  void add(double predicted, double real) { all.push_back(std::abs(predicted - real) / real); }
  [[nodiscard]] double median() {
    std::ranges::sort(all);
    return all[all.size() / 2];
  }
  [[nodiscard]] double worst() const { return *std::ranges::max_element(all); }
};

Errors errors_on(std::string_view generator) {
  Plant plant{generator};
  Errors errors;
  for (const char* pattern : patterns) {
    Played now{*plant.fabric, phase_of(pattern)};
    const Prediction before = plant.run(plant.all, plant.tables, now.fill());
    const auto flows = estimate_flows(*plant.network, loads_of(*plant.network, before.load), plant.tables);
    double wanted = 0;
    for (const sim::TrafficFlow& flow : flows) wanted += flow.demand.value();
    EXPECT_NEAR(wanted, before.carried, 0.1 * before.carried) << generator << " " << pattern;
    const double uneven = unevenness(*plant.network, loads_of(*plant.network, before.load), plant.tables);
    Errors own;
    for (const routing::LinkSet& left : outages(plant)) {
      const routing::ForwardingTables tables = plant.network->tables(left);
      Played then{*plant.fabric, phase_of(pattern)};
      const double real = plant.run(left, tables, then.fill()).largest;
      const double predicted = plant.run(left, tables, with(flows)).largest;
      if (real <= 0) continue;
      if (uneven <= most_uneven) errors.add(predicted, real);
      own.add(predicted, real);
    }
    if (!own.all.empty()) {
      // What is worth nothing is told to be.
      EXPECT_TRUE(uneven > most_uneven || own.worst() < 0.5) << generator << " " << pattern;
      std::cout << fmt::format("{:32} {:16} uneven {:.3f} median {:.3f} worst {:.3f} of {}\n", generator,
                               pattern, uneven, own.median(), own.worst(), own.all.size());
    }
  }
  return errors;
}

TEST(Estimates, AreAsGoodAsIsSaid) {
  Errors errors;
  for (const char* generator : {"tree:k=4,n=2", "torus:4x4,hosts=2"}) {
    const Errors of_one = errors_on(generator);
    errors.all.insert(errors.all.end(), of_one.all.begin(), of_one.all.end());
  }
  const StatedError stated = error_of_estimates();
  std::cout << fmt::format("median {:.4f} worst {:.4f} of {}\n", errors.median(), errors.worst(),
                           errors.all.size());
  EXPECT_LE(errors.median(), stated.median);
  EXPECT_LE(errors.worst(), stated.worst);
  EXPECT_GE(errors.median(), 0.5 * stated.median) << "it says less of itself than is true";
  EXPECT_GE(errors.worst(), 0.8 * stated.worst);
  EXPECT_GT(errors.all.size(), 200U) << "most kinds are predicted at all";
}

/// Of a large fabric not all flows are made: each host keeps its sum, within what one of its flows carries.
TEST(Estimates, OfTooManyReceiversSomeAreTaken) {
  const Plant plant{"tree:k=6,n=2"};
  Played now{*plant.fabric, phase_of("all-to-all")};
  const Prediction before = plant.run(plant.all, plant.tables, now.fill());
  const auto loads = loads_of(*plant.network, before.load);
  constexpr std::size_t a_host = 5;
  const std::size_t hosts = plant.network->graph().host_count();
  ASSERT_GT(hosts, 4 * a_host);
  const auto flows = estimate_flows(*plant.network, loads, plant.tables, 0, a_host * hosts);
  EXPECT_LE(flows.size(), (a_host + 1) * hosts);
  EXPECT_GE(flows.size(), (a_host - 1) * hosts);
  std::vector<double> sent(plant.fabric->ports().size());
  std::vector<double> received(sent.size());
  for (const sim::TrafficFlow& flow : flows) {
    EXPECT_NE(flow.from, flow.to);
    sent[flow.from.raw()] += flow.demand.value();
    received[flow.to.raw()] += flow.demand.value();
  }
  double all = 0;
  for (const routing::Target& target : plant.network->graph().targets()) {
    if (target.kind != routing::TargetKind::Host) continue;
    const double wanted = before.load[target.port.raw()];
    EXPECT_NEAR(sent[target.port.raw()], wanted, wanted / a_host + 1);
    EXPECT_GT(received[target.port.raw()], 0) << "everybody is sent to";
    all += sent[target.port.raw()];
  }
  EXPECT_NEAR(all, before.carried, 0.05 * before.carried);
}

}  // namespace
}  // namespace heddle::twin
