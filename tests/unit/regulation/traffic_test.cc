#include "regulation/traffic.h"

#include <gtest/gtest.h>

#include <optional>

#include "base/random.h"
#include "fabric/generators.h"
#include "routing/quality.h"
#include "unit/regulation/first_switch.h"

namespace heddle::regulation {
namespace {

bool is_torus(const std::string& spec) { return spec.starts_with("torus"); }

struct Site {
  std::shared_ptr<const Fabric> fabric;
  std::unique_ptr<Network> network;

  explicit Site(const std::string& spec) : fabric{*assign_lids(**generate(spec))} {
    NetworkOptions options;
    if (is_torus(spec)) options.roots = {first_switch(*fabric)};
    network = *Network::make(fabric, options);
  }
  [[nodiscard]] std::uint32_t hosts() const {
    return static_cast<std::uint32_t>(network->graph().host_count());
  }

  /// What counters would show of these flows.
  [[nodiscard]] MeasuredLoads measure(const std::vector<HostFlow>& flows) {
    return measure(flows, network->tables(routing::LinkSet::all(*fabric)));
  }
  [[nodiscard]] MeasuredLoads measure(const std::vector<HostFlow>& flows,
                                      const routing::ForwardingTables& tables) {
    const auto& graph = network->graph();
    MeasuredLoads loads;
    loads.hop = predicted_loads(*network, tables, traffic_of(*network, flows));
    loads.waiting.assign(loads.hop.size(), 0);
    loads.sent.assign(graph.targets().size(), 0);
    loads.received.assign(graph.targets().size(), 0);
    const auto hosts = routing::host_targets(graph);
    for (const HostFlow& flow : flows) {
      loads.sent[hosts[flow.from]] += flow.rate;
      loads.received[hosts[flow.to]] += flow.rate;
    }
    return loads;
  }
  /// Sum of what is wrong, over the sum of all.
  double error(const std::vector<HostFlow>& flows, unsigned passes) {
    EstimateOptions options;
    options.passes = passes;
    const Traffic truth = traffic_of(*network, flows);
    const Traffic estimate =
        estimate_traffic(*network, measure(flows), network->tables(routing::LinkSet::all(*fabric)), options);
    double wrong = 0;
    for (std::size_t s = 0; s < truth.matrix.size(); ++s) {
      for (std::size_t d = 0; d < truth.matrix.size(); ++d)
        wrong += std::abs(truth.matrix.at(s, d) - estimate.matrix.at(s, d));
    }
    return wrong / truth.matrix.total();
  }
};

std::vector<HostFlow> uniform(std::uint32_t hosts) {
  std::vector<HostFlow> flows;
  for (std::uint32_t s = 0; s < hosts; ++s) {
    for (std::uint32_t d = 0; d < hosts; ++d) {
      if (s != d) flows.push_back({s, d, 1e9});
    }
  }
  return flows;
}

std::vector<HostFlow> shift(std::uint32_t hosts, std::uint32_t by) {
  std::vector<HostFlow> flows;
  for (std::uint32_t s = 0; s < hosts; ++s) flows.push_back({s, (s + by) % hosts, 1e9});
  return flows;
}

std::vector<HostFlow> bit_reversal(std::uint32_t bits) {
  std::vector<HostFlow> flows;
  for (std::uint32_t s = 0; s < 1U << bits; ++s) {
    std::uint32_t d = 0;
    for (std::uint32_t b = 0; b < bits; ++b) d |= (s >> b & 1U) << (bits - 1 - b);
    if (s != d) flows.push_back({s, d, 1e9});
  }
  return flows;
}

/// Half of the hosts send to everybody, some to a few.
std::vector<HostFlow> mixed(std::uint32_t hosts, std::uint64_t seed) {
  Random random{seed};
  std::vector<HostFlow> flows;
  for (std::uint32_t s = 0; s < hosts; ++s) {
    for (std::uint32_t d = 0; d < hosts; ++d) {
      if (s != d && (s % 2 == 0 || random.chance(0.1))) flows.push_back({s, d, 1e9 * random.unit()});
    }
  }
  return flows;
}

// What the prediction adds up is what each flow does by itself.
TEST(PredictionTest, IsTheSumOfTheFlows) {
  Site site{"torus:4x4,hosts=1,links=2"};
  const auto flows = mixed(site.hosts(), 3);
  const auto& graph = site.network->graph();
  const auto& tables = site.network->tables(routing::LinkSet::all(*site.fabric));
  std::vector<routing::Flow> single;
  for (const HostFlow& flow : flows) single.push_back({flow.from, flow.to, flow.rate});
  const auto expected = routing::load_of(graph, tables, single);
  const auto predicted = predicted_loads(*site.network, tables, traffic_of(*site.network, flows));
  for (std::size_t h = 0; h < predicted.size(); ++h) EXPECT_NEAR(predicted[h], expected.hop[h], 1);
}

TEST(PredictionTest, ConservesTrafficInATree) {
  Site site{"xgft:2;4,8;1,4"};
  const auto flows = uniform(site.hosts());
  const Traffic traffic = traffic_of(*site.network, flows);
  const auto loads =
      predicted_loads(*site.network, site.network->tables(routing::LinkSet::all(*site.fabric)), traffic);
  double sum = 0;
  for (const double load : loads) sum += load;
  EXPECT_NEAR(sum / (2 * traffic.matrix.total()), 1, 1e-9);  // up one link, down one
}

// Errors of the estimate against known matrices; docs/regulation.md states them.
TEST(EstimateTest, UniformTrafficIsFoundExactly) {
  Site tree{"xgft:2;4,8;1,4"};
  EXPECT_LT(tree.error(uniform(tree.hosts()), 20), 0.01);
  Site torus{"torus:4x4,hosts=1,links=2"};
  EXPECT_LT(torus.error(uniform(torus.hosts()), 20), 0.01);
}

TEST(EstimateTest, FittingToTheLinksBeatsGravity) {
  for (const std::string spec : {"torus:4x4,hosts=1,links=2", "torus:8x8,hosts=1,links=4"}) {
    Site site{spec};
    for (const auto& flows : {shift(site.hosts(), 1), shift(site.hosts(), 5), mixed(site.hosts(), 7)}) {
      const double gravity = site.error(flows, 0);
      const double fitted = site.error(flows, 20);
      RecordProperty(spec, std::to_string(fitted));
      EXPECT_LT(fitted, 0.9 * gravity) << spec;
    }
  }
}

TEST(EstimateTest, NeighbourAndBitReversalOnATorus) {
  Site site{"torus:8x8,hosts=1,links=4"};
  EXPECT_LT(site.error(shift(site.hosts(), 1), 200), 0.1);
  EXPECT_LT(site.error(bit_reversal(6), 200), 0.65);
}

/// Two planes; errors of an estimate from the second with what the first had shown.
struct TwoPlanes {
  explicit TwoPlanes(const std::string& spec) : fabric{*assign_lids(**generate(spec), 1)} {
    NetworkOptions options;
    options.planes = 2;
    options.roots = {first_switch(*fabric)};
    network = *Network::make(fabric, options);
  }
  [[nodiscard]] std::uint32_t hosts() const {
    return static_cast<std::uint32_t>(network->graph().host_count());
  }
  [[nodiscard]] MeasuredLoads measure(const std::vector<HostFlow>& flows, unsigned plane) const {
    const auto& graph = network->graph();
    MeasuredLoads loads;
    loads.hop = predicted_loads(*network, tables(), traffic_of(*network, flows), plane);
    loads.waiting.assign(loads.hop.size(), 0);
    loads.sent.assign(graph.targets().size(), 0);
    loads.received = loads.sent;
    const auto hosts = routing::host_targets(graph);
    for (const HostFlow& flow : flows) {
      loads.sent[hosts[flow.from]] += flow.rate;
      loads.received[hosts[flow.to]] += flow.rate;
    }
    return loads;
  }
  [[nodiscard]] const routing::ForwardingTables& tables() const {
    return network->tables(routing::LinkSet::all(*fabric));
  }
  /// `earlier`: what flowed while plane 0 was in use; none: it never was.
  [[nodiscard]] double error(const std::vector<HostFlow>& flows,
                             const std::optional<std::vector<HostFlow>>& earlier) const {
    const MeasuredLoads loads = measure(flows, 1);
    EstimateOptions options;
    options.plane = 1;
    MeasuredLoads seen;
    if (earlier) {
      seen = measure(*earlier, 0);
      options.before = Observation{&seen, &tables(), 0};
    }
    const Traffic estimate = estimate_traffic(*network, loads, tables(), options);
    const Traffic truth = traffic_of(*network, flows);
    double wrong = 0;
    for (std::size_t s = 0; s < truth.matrix.size(); ++s) {
      for (std::size_t d = 0; d < truth.matrix.size(); ++d)
        wrong += std::abs(truth.matrix.at(s, d) - estimate.matrix.at(s, d));
    }
    return wrong / truth.matrix.total();
  }

  std::shared_ptr<const Fabric> fabric;
  std::unique_ptr<Network> network;
};

TEST(EstimateTest, TheOtherPlaneTellsTheRest) {
  const TwoPlanes site{"torus:8x8,hosts=1,links=4"};
  const auto flows = bit_reversal(6);
  EXPECT_LT(site.error(flows, flows), 0.3);
  EXPECT_LT(site.error(flows, flows), 0.6 * site.error(flows, std::nullopt));
  EXPECT_LT(site.error(shift(64, 1), shift(64, 1)), 0.05);
}

TEST(EstimateTest, WhatFlowedOtherwiseThenIsLeftOut) {
  const TwoPlanes site{"torus:8x8,hosts=1,links=4"};
  const auto flows = bit_reversal(6);
  const double alone = site.error(flows, std::nullopt);
  // Hosts send as much, to others: no matrix meets both.
  EXPECT_DOUBLE_EQ(site.error(flows, shift(64, 5)), alone);
  // Hosts sent something else.
  EXPECT_DOUBLE_EQ(site.error(flows, uniform(64)), alone);
}

// Loads under other tables tell what those under one cannot.
TEST(EstimateTest, AnEarlierEstimateMakesTheNextBetter) {
  Site site{"torus:8x8,hosts=1,links=4"};
  const auto flows = bit_reversal(6);
  const Traffic truth = traffic_of(*site.network, flows);
  auto active = routing::LinkSet::all(*site.fabric);
  std::optional<Traffic> estimate;
  std::vector<double> errors;
  for (std::size_t round = 0; round < 4; ++round) {
    const auto& tables = site.network->tables(active);
    const MeasuredLoads loads = site.measure(flows, tables);
    EstimateOptions options;
    if (estimate) options.prior = &estimate->matrix;
    estimate = estimate_traffic(*site.network, loads, tables, options);
    double wrong = 0;
    for (std::size_t s = 0; s < truth.matrix.size(); ++s) {
      for (std::size_t d = 0; d < truth.matrix.size(); ++d)
        wrong += std::abs(truth.matrix.at(s, d) - estimate->matrix.at(s, d));
    }
    errors.push_back(wrong / truth.matrix.total());
    // A whole trunk of every eighth leaves: packets take other ways.
    for (std::size_t t = round; t < site.network->trunks().size(); t += 8) {
      auto fewer = active;
      for (const LinkIndex link : site.network->trunks()[t].links) fewer.erase(link);
      if (!broken_rule(*site.network, fewer)) active = fewer;
    }
  }
  EXPECT_LT(errors.back(), errors.front());
}

TEST(EstimateTest, ReproducesTheLoadsThatWereMeasured) {
  Site site{"torus:8x8,hosts=1,links=4"};
  const auto& tables = site.network->tables(routing::LinkSet::all(*site.fabric));
  for (const auto& flows : {shift(site.hosts(), 1), bit_reversal(6), mixed(site.hosts(), 9)}) {
    const MeasuredLoads measured = site.measure(flows);
    const Traffic estimate = estimate_traffic(*site.network, measured, tables, {});
    const auto loads = predicted_loads(*site.network, tables, estimate);
    double wrong = 0;
    double sum = 0;
    for (std::size_t h = 0; h < loads.size(); ++h) {
      wrong += std::abs(loads[h] - measured.hop[h]);
      sum += measured.hop[h];
    }
    EXPECT_LT(wrong / sum, 0.1);
  }
}

TEST(MeasuredLoadsTest, ASampleOfAnotherSnapshotIsFoundByGuid) {
  Site site{"mesh:3,hosts=1,links=2"};
  FabricBuilder builder;
  // The same nodes in the opposite order, and one link less.
  std::vector<NodeIndex> where(site.fabric->nodes().size());
  for (std::size_t i = site.fabric->nodes().size(); i-- > 0;)
    where[i] = *builder.add_node(site.fabric->nodes()[i]);
  for (std::size_t i = 1; i < site.fabric->links().size(); ++i) {
    const Link& link = site.fabric->links()[i];
    ASSERT_TRUE(builder.add_link({where[link.a.node.raw()], link.a.port},
                                 {where[link.b.node.raw()], link.b.port}, link.width, link.speed));
  }
  load::Sample sample;
  sample.fabric = builder.build();
  sample.ports.resize(sample.fabric->ports().size());
  for (load::PortSample& port : sample.ports) port.xmit_bytes_per_second = 1000;
  const MeasuredLoads loads = measured_loads(*site.network, sample);
  std::size_t unknown = 0;
  for (const double load : loads.hop) {
    if (std::isnan(load)) {
      ++unknown;
    } else {
      EXPECT_DOUBLE_EQ(load, 8000);
    }
  }
  EXPECT_EQ(unknown, site.network->trunk_of(LinkIndex{0}) == Network::no_trunk ? 0U : 2U);
}

}  // namespace
}  // namespace heddle::regulation
