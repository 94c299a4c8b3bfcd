/// A simulated fabric that was discovered and configured, as the daemon would have it.
#pragma once

#include <gtest/gtest.h>

#include <memory>

#include "authority/own/subnet_manager.h"
#include "authority/own/up_down_keeper.h"
#include "discovery/discovery.h"
#include "support/sim_world.h"
#include "vlarb/keeper.h"

namespace heddle::vlarb {

class ManagedWorld {
 public:
  explicit ManagedWorld(std::string_view generator, const sim::Options& options = {},
                        const transport::EngineOptions& engine_options = {})
      : sim{generator, options, engine_options},
        discovery{sim.engine,
                  {.change_bits = discovery::ChangeBits::Clear},
                  [this](const discovery::SweepReport& report) {
                    if (!report.survey || report.survey == report.before) return;
                    keeper.note(*report.survey);
                    sm.configure(report.survey, sim.now);
                  }},
        sm{sim.engine,
           sim,
           {},
           [this](const Fabric& fabric) { return routes.route(fabric); },
           [this](const provision::ProvisionReport& report) {
             ++configured;
             survey = report.survey;
             if (!report.failure) discovery.adopt(report.survey);
           }},
        keeper{sim.engine, 0, [](const Node& node) { return node.description; }} {
    sim.engine.unsolicited_to([this](const mad::Packet& packet, Instant at) {
      if (const auto notice = sm.on_unsolicited(packet, at)) discovery.on_notice(*notice, at);
    });
    sim.next_deadline = [this] { return sm.next_deadline(); };
    sim.on_timer = [this](Instant now) { sm.on_timer(now); };
  }

  void bring_up() {
    discovery.full(sim.now);
    settle();
  }
  /// Until the next configuration has ended.
  void settle() {
    const auto before = configured;
    ASSERT_TRUE(sim.run([&] { return configured > before && !discovery.busy() && !sm.busy(); }));
  }
  /// Light sweeps, and what follows from them, until the fabric is known to be so.
  void sweep_until(const std::function<bool(const Survey&)>& so) {
    for (int i = 0; i < 20 && !(survey && so(*survey)); ++i) {
      sim.now += std::chrono::seconds{1};
      sim.fabric.advance(sim.ps());
      discovery.light(sim.now);
      ASSERT_TRUE(sim.run([&] { return !discovery.busy() && !sm.busy(); }));
    }
    ASSERT_TRUE(survey && so(*survey));
  }
  /// Until the keeper has nothing left to do.
  Outcome finish() {
    EXPECT_TRUE(sim.run([&] { return !keeper.busy(); }));
    return outcomes.empty() ? Outcome{} : outcomes.back();
  }
  [[nodiscard]] Keeper::Done done() {
    return [this](const Outcome& outcome) { outcomes.push_back(outcome); };
  }
  Outcome push(Assignment assignment) {
    EXPECT_TRUE(keeper.assign(assignment));
    EXPECT_TRUE(keeper.write(survey, {std::move(assignment)}, sim.now, done()));
    return finish();
  }
  Outcome verify() {
    EXPECT_TRUE(keeper.verify(survey, sim.now, done()));
    return finish();
  }
  [[nodiscard]] const Fabric& truth() const { return sim.fabric.description(); }
  [[nodiscard]] NodeIndex first(NodeType type) const {
    for (std::uint32_t i = 0; i < truth().nodes().size(); ++i) {
      if (truth().nodes()[i].type == type) return NodeIndex{i};
    }
    return no_node;
  }
  [[nodiscard]] PortIndex port(LinkEnd end) const { return truth().port_index(end); }

  test::SimWorld sim;
  std::shared_ptr<const Survey> survey;  ///< as it was configured
  std::size_t configured = 0;
  discovery::Discovery discovery;
  provision::UpDownKeeper routes;
  provision::SubnetManager sm;
  Keeper keeper;
  std::vector<Outcome> outcomes;
};

inline qos::ArbEntry entry(unsigned vl, unsigned weight) {
  return {Vl{static_cast<std::uint8_t>(vl)}, static_cast<std::uint8_t>(weight)};
}

/// Four SLs on four VLs, one of them low; 40 high entries, so that both high blocks count.
inline qos::Programming four_lanes() {
  qos::Programming plan;
  for (unsigned i = 0; i < 40; ++i) plan.tables.high.push_back(entry(i % 3, 64 * (1 + i % 3)));
  plan.tables.low = {entry(3, 64)};
  plan.tables.limit = qos::HighLimit{7};
  for (unsigned sl = 0; sl < qos::sl_count; ++sl) plan.map.vl[sl] = Vl{static_cast<std::uint8_t>(sl % 4)};
  return plan;
}

inline Assignment for_ports(std::string_view ports, qos::Programming programming = four_lanes()) {
  return {"test", *PortFilter::parse(ports), std::move(programming)};
}

}  // namespace heddle::vlarb
