/// A simulated fabric with discovery over it, for the tests of sweeps.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <vector>

#include "discovery/discovery.h"
#include "fabric/change.h"
#include "sim/bring_up.h"
#include "support/sim_world.h"

namespace heddle::discovery {

class World {
 public:
  explicit World(std::string_view generator, const sim::Options& options = {}, SweepOptions sweeps = {})
      : World{*generate(generator), options, sweeps} {}
  World(std::shared_ptr<const Fabric> description, const sim::Options& options, SweepOptions sweeps)
      : sim{std::move(description), options},
        discovery{sim.engine, sweeps, [this](const SweepReport& report) { reports.push_back(report); }} {}

  const SweepReport& full() {
    discovery.full(sim.now);
    return finish();
  }
  const SweepReport& light() {
    discovery.light(sim.now);
    return finish();
  }
  const SweepReport& finish() {
    const auto before = reports.size();
    EXPECT_TRUE(sim.run([&] { return reports.size() > before; }));
    return reports.back();
  }
  [[nodiscard]] const Fabric& truth() const { return sim.fabric.description(); }
  [[nodiscard]] NodeIndex switch_at(std::size_t nth) const {
    for (std::uint32_t i = 0; i < truth().nodes().size(); ++i) {
      if (truth().nodes()[i].type == NodeType::Switch && nth-- == 0) return NodeIndex{i};
    }
    return no_node;
  }
  [[nodiscard]] Picoseconds ps() const { return sim.ps(); }

  test::SimWorld sim;
  std::vector<SweepReport> reports;
  Discovery discovery;
};

inline std::size_t count(const SweepReport& report, ProblemKind kind) {
  return static_cast<std::size_t>(std::count_if(report.problems.begin(), report.problems.end(),
                                                [&](const Problem& p) { return p.kind == kind; }));
}

inline std::string texts(const SweepReport& report) {
  std::string all;
  for (const auto& problem : report.problems) all += problem.text + "\n";
  return all;
}

/// Every switch and host says that something has changed.
inline void flood_with_traps(World& world) {
  for (const Port& port : world.discovery.survey()->fabric->ports()) {
    if (port.lid == no_lid) continue;
    mad::Notice notice;
    notice.generic = true;
    notice.trap = 128;
    notice.set_data_lid(port.lid);
    world.discovery.on_notice(notice, world.sim.now);
  }
}

/// Same nodes, cables, rates and descriptions; states and LIDs apart.
inline void expect_same_graph(const Fabric& found, const Fabric& truth) {
  ASSERT_EQ(found.nodes().size(), truth.nodes().size());
  ASSERT_EQ(found.links().size(), truth.links().size());
  for (const Node& node : truth.nodes()) {
    const NodeIndex index = found.find_node(node.guid);
    ASSERT_NE(index, no_node);
    EXPECT_EQ(found.node(index).description, node.description);
    EXPECT_EQ(found.node(index).type, node.type);
    EXPECT_EQ(found.node(index).port_count, node.port_count);
  }
  for (const Link& link : truth.links()) {
    const auto end = [&](LinkEnd of) { return LinkEnd{found.find_node(truth.node(of.node).guid), of.port}; };
    ASSERT_EQ(found.peer(end(link.a)), end(link.b));
    const Link& same = found.link(found.port(end(link.a)).link);
    EXPECT_EQ(same.width, link.width);
    EXPECT_EQ(same.speed, link.speed);
  }
}

}  // namespace heddle::discovery
