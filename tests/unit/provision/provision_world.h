/// A simulated fabric with discovery and the subnet manager over it, for the tests of what these write.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "authority/own/subnet_manager.h"
#include "authority/own/up_down_keeper.h"
#include "discovery/discovery.h"
#include "mad/header.h"
#include "routing/minhop.h"
#include "support/sim_world.h"
#include "support/trunks.h"

namespace heddle::provision {

inline Result<routing::ForwardingTables> minhop(const Fabric& fabric) {
  const auto graph = routing::SwitchGraph::make(fabric);
  if (!graph) return fail(graph.error());
  return routing::route_minhop(*graph, routing::LinkSet::all(fabric));
}

/// Discovery and subnet manager wired as in the daemon.
class World {
 public:
  explicit World(std::string_view generator, ProvisionOptions options = {},
                 const sim::Options& sim_options = {}, Router router = minhop)
      : sim{generator, sim_options},
        discovery{sim.engine,
                  {.change_bits = discovery::ChangeBits::Clear,
                   .on_active = [this](const PortRef& port) { sm.found_active(port); }},
                  [this](const discovery::SweepReport& report) {
                    sweeps.push_back(report);
                    if (report.survey && report.survey != report.before) {
                      sm.configure(report.survey, sim.now);
                    }
                  }},
        sm{sim.engine, sim, options, std::move(router), [this](const ProvisionReport& report) {
             reports.push_back(report);
             if (!report.failure) discovery.adopt(report.survey);
           }} {
    sim.engine.unsolicited_to([this](const mad::Packet& packet, Instant at) {
      if (const auto notice = sm.on_unsolicited(packet, at)) {
        notices.push_back(*notice);
        discovery.on_notice(*notice, at);
      }
    });
    sim.engine.unmatched_to([this](const mad::Packet& packet, Instant at) { sm.on_unmatched(packet, at); });
  }

  const ProvisionReport& bring_up() {
    discovery.full(sim.now);
    return finish();
  }
  const ProvisionReport& finish() {
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

  test::SimWorld sim;
  std::vector<discovery::SweepReport> sweeps;
  std::vector<ProvisionReport> reports;
  std::vector<mad::Notice> notices;
  discovery::Discovery discovery;
  SubnetManager sm;
};

/// As it is once the program that found this is gone: its claim to the port has gone with it.
inline std::shared_ptr<const Survey> after_its_end(const Survey& found) {
  auto survey = std::make_shared<Survey>(found);
  for (auto& port : survey->nodes[survey->local.raw()].ports) {
    port.info.capability_mask &= ~mad::port_cap::is_sm;
  }
  return survey;
}

/// As a sweep does that asks this port now.
inline void read_again(Survey& survey, const World& world, LinkEnd end) {
  const Fabric& truth = world.truth();
  const Port& port = survey.fabric->port(survey.fabric->find_port(truth.ref(end)));
  survey.nodes[port.node.raw()].ports[port.num.raw()].info =
      world.sim.fabric.port_info(truth.port_index(end));
}

/// The directed route to a switch as the last run had it; none to the one that the daemon is cabled to.
inline std::optional<std::vector<PortNum>> way_to(const World& world, NodeIndex sw) {
  const Fabric& truth = world.truth();
  const LinkEnd own{truth.port(world.sim.port()).node, truth.port(world.sim.port()).num};
  if (sw == truth.peer(own)->node) return std::nullopt;
  const Survey& survey = *world.reports.back().survey;
  return survey.node(survey.fabric->find_node(truth.node(sw).guid)).path;
}

/// What the next program finds in its first sweep.
inline std::shared_ptr<const Survey> found_anew(World& world) {
  std::shared_ptr<const Survey> found;
  discovery::Discovery discovery{
      world.sim.engine, {}, [&](const discovery::SweepReport& report) { found = report.survey; }};
  discovery.full(world.sim.now);
  EXPECT_TRUE(world.sim.run([&] { return found != nullptr; }));
  return found ? after_its_end(*found) : nullptr;
}

inline std::string texts(const ProvisionReport& report) {
  std::string all;
  for (const auto& trouble : report.troubles) all += trouble.text + "\n";
  return all;
}

/// Follows the programmed tables from switch to switch; true if the LID's owner is reached.
inline bool leads_there(const sim::SimulatedFabric& fabric, NodeIndex from, Lid lid) {
  const Fabric& truth = fabric.description();
  const PortIndex target = fabric.port_of(lid);
  NodeIndex at = from;
  for (int hops = 0; hops < 64; ++hops) {
    if (truth.port(target).node == at) return true;
    const auto table = fabric.forwarding_table(at);
    if (lid.raw() >= table.size() || table[lid.raw()] == no_path) return false;
    const LinkEnd out{at, table[lid.raw()]};
    if (!fabric.forwards(truth.port_index(out))) return false;
    at = truth.peer(out)->node;
  }
  return false;
}

inline void expect_works(const World& world) {
  const Fabric& truth = world.truth();
  for (std::uint32_t p = 0; p < truth.ports().size(); ++p) {
    const Port& port = truth.ports()[p];
    const bool is_switch = truth.node(port.node).type == NodeType::Switch;
    const mad::PortInfo& info = world.sim.fabric.port_info(PortIndex{p});
    if (port.link != no_link) {
      ASSERT_EQ(info.state, PortState::Active);
    }
    if (is_switch != (port.num == PortNum{0}) || (!is_switch && port.link == no_link)) continue;
    for (unsigned i = 0; i < (1U << info.lmc); ++i) {
      const Lid lid{static_cast<std::uint16_t>(info.lid.raw() + i)};
      for (std::uint32_t s = 0; s < truth.nodes().size(); ++s) {
        if (truth.nodes()[s].type != NodeType::Switch) continue;
        ASSERT_TRUE(leads_there(world.sim.fabric, NodeIndex{s}, lid)) << "LID " << lid.raw();
      }
    }
  }
}

/// Routed as the daemon does, with its timers.
struct KeptWorld {
  explicit KeptWorld(std::string_view generator, const ProvisionOptions& options = {})
      : keeper{1U << options.ports.lmc}, world{generator, options, {}, [this](const Fabric& fabric) {
                                                 return keeper.route(fabric);
                                               }} {
    world.sm.allow_turns_by(
        [this](const std::vector<routing::KeptTurn>& turns) { return keeper.allow(turns); });
    keeper.look_at([this](const routing::SwitchGraph& graph, Lid top) { return world.sm.held(graph, top); });
    world.sm.ask_for_others(
        [this] { return keeper.leave_lost([this](const PortRef& port) { return world.sm.may_use(port); }); });
    world.sim.next_deadline = [this] { return world.sm.next_deadline(); };
    world.sim.on_timer = [this](Instant now) { world.sm.on_timer(now); };
  }
  void settle() {
    ASSERT_TRUE(world.sim.run([&] { return !world.sm.busy() && !world.discovery.busy(); }));
  }
  [[nodiscard]] LinkIndex switch_link(std::size_t nth) const {
    const auto links = test::trunk_links(world.truth());
    return nth < links.size() ? links[nth] : no_link;
  }

  UpDownKeeper keeper;
  World world;
};

/// What comes of tables that are made anew.
inline Result<void> rewrite_tables(SubnetManager& sm, test::SimWorld& sim) {
  std::optional<Result<void>> done;
  sm.rewrite_tables(sim.now, [&](const Result<void>& result, Instant) { done = result; });
  EXPECT_TRUE(sim.run([&] { return done.has_value(); }));
  return done.value_or(Result<void>{fail(ErrorCode::Invalid, "no answer")});
}

/// What the next program, which keeps the order, makes of what it has found.
inline ProvisionReport run_anew(KeptWorld& kept, std::shared_ptr<const Survey> found) {
  test::SimWorld& sim = kept.world.sim;
  UpDownKeeper keeper;
  keeper.remember(kept.keeper.ranks());
  std::optional<ProvisionReport> report;
  Provisioner fresh{sim.engine,
                    sim,
                    {},
                    [&](const Fabric& fabric) { return keeper.route(fabric); },
                    [&](const ProvisionReport& made) { report = made; }};
  fresh.run(std::move(found), sim.now);
  EXPECT_TRUE(sim.run([&] { return report.has_value(); }));
  return report.value_or(ProvisionReport{});
}

/// Set(LinearForwardingTable) by directed route.
struct TableSet {
  std::vector<PortNum> path;  ///< by which ports it leaves
  std::vector<std::uint8_t> entries;
};
inline std::optional<TableSet> table_set(const mad::Packet& packet) {
  const mad::Header header = mad::read_header(packet.mad);
  if (header.method != mad::Method::Set || !mad::is_smp(header) ||
      static_cast<mad::SmAttr>(header.attribute) != mad::SmAttr::LinearForwardingTable)
    return std::nullopt;
  const auto route = mad::read_directed_route(packet.mad);
  const auto first = route.initial_path.begin() + 1;
  const auto data = mad::smp_data(packet.mad);
  return TableSet{{first, first + route.hop_count}, {data.begin(), data.end()}};
}

}  // namespace heddle::provision
