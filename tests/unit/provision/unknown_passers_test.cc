// A daemon that has just started, and switches that pass packets and of which it does not know how.

#include <gtest/gtest.h>

#include <functional>
#include <span>
#include <vector>

#include "provision_world.h"
#include "routing/proof.h"

namespace heddle::provision {
namespace {

using namespace std::chrono_literals;

enum class Remembers : std::uint8_t { Order, OrderAndCables };

/// The next program on a fabric whose tables stand.
struct Restarted {
  explicit Restarted(KeptWorld& before, Remembers what = Remembers::Order) : world{before.world} {
    if (what == Remembers::Order) {
      keeper.remember(before.keeper.ranks());
    } else {
      keeper.remember(remembered(before));
    }
    sm.allow_turns_by([this](const std::vector<routing::KeptTurn>& turns) { return keeper.allow(turns); });
    world.sim.next_deadline = [this] { return sm.next_deadline(); };
    world.sim.on_timer = [this](Instant now) { sm.on_timer(now); };
  }
  static authority::Remembered remembered(const KeptWorld& before) {
    authority::Remembered result;
    result.ranks = before.keeper.ranks();
    const Fabric& truth = before.world.truth();
    for (const LinkIndex link : test::trunk_links(truth))
      result.cables.push_back({{link_ref(truth, truth.link(link))}, "a", "b"});
    return result;
  }
  /// Sweeps, and writes until nothing more is to be written, or for some time.
  const ProvisionReport& sweep() {
    sm.configure(found_anew(world), world.sim.now);
    world.sim.run([this] { return !reports.empty() && !sm.busy(); }, 5s);
    return reports.back();
  }

  World& world;
  UpDownKeeper keeper;
  std::vector<ProvisionReport> reports;
  SubnetManager sm{world.sim.engine,
                   world.sim,
                   {},
                   [this](const Fabric& fabric) { return keeper.route(fabric); },
                   [this](const ProvisionReport& report) { reports.push_back(report); }};
};

/// Whether packets come to a switch that are for elsewhere.
bool is_passed(const World& world, NodeIndex sw) {
  const Fabric& truth = world.truth();
  for (unsigned p = 1; p <= truth.node(sw).port_count; ++p) {
    const auto near = truth.peer({sw, PortNum{static_cast<std::uint8_t>(p)}});
    if (!near || truth.node(near->node).type != NodeType::Switch) continue;
    const auto table = world.sim.fabric.forwarding_table(near->node);
    for (std::size_t lid = 1; lid < table.size(); ++lid) {
      if (table[lid] != near->port) continue;
      const Port& target = truth.port(world.sim.fabric.port_of(Lid{static_cast<std::uint16_t>(lid)}));
      const bool is_host = truth.node(target.node).type != NodeType::Switch;
      const NodeIndex end = is_host ? truth.peer({target.node, target.num})->node : target.node;
      if (end != sw) return true;
    }
  }
  return false;
}

std::size_t writes(World& world, const std::function<void()>& meanwhile) {
  std::size_t count = 0;
  world.sim.on_send = [&](const mad::Packet& packet) { count += table_set(packet) ? 1 : 0; };
  meanwhile();
  world.sim.on_send = nullptr;
  return count;
}

/// By what the switches hold, which nobody knows who does not ask them.
bool has_circle(const World& world) {
  const auto graph = routing::SwitchGraph::make(*world.reports.back().survey->fabric);
  EXPECT_TRUE(graph);
  if (!graph) return true;
  routing::ForwardingTables tables(graph->guids(), Lid{63});
  for (std::uint32_t s = 0; s < graph->size(); ++s) {
    const routing::SwitchIndex sw{s};
    const auto held = world.sim.fabric.forwarding_table(world.truth().find_node(graph->guid(sw)));
    const auto row = tables.row(sw);
    for (std::size_t lid = 0; lid < std::min(row.size(), held.size()); ++lid) row[lid] = held[lid].raw();
  }
  const routing::Proof proof = routing::prove(*graph, tables);
  return std::ranges::any_of(proof.findings, [](const routing::Finding& finding) {
    return finding.fault == routing::Fault::Loop || finding.fault == routing::Fault::Deadlock;
  });
}

// 2000003114, 2741873726 and eleven other worlds of the swarm: what led over a cable that was cut found other
// ways by an order that was made as if the silent switch were not there, and closed a circle with its turns.
TEST(Provisioner, AnOrderThatIsMadeBesideASilentSwitchIsThatOfBefore) {
  std::size_t led_elsewhere = 0;
  for (std::size_t nth = 1; nth < 16; ++nth) {
    for (std::size_t cut = 0; cut < 32; ++cut) {
      KeptWorld kept{"torus:4x4,hosts=1,links=1"};
      World& world = kept.world;
      ASSERT_FALSE(world.bring_up().failure);
      kept.settle();
      const NodeIndex silent = world.switch_at(nth);
      const Link cable = world.truth().link(kept.switch_link(cut));
      if (cable.a.node == silent || cable.b.node == silent) continue;
      world.sim.fabric.set_agent_faults(silent, {.mute_sma = true});
      world.sim.fabric.cut(kept.switch_link(cut), world.sim.fabric.now());
      Restarted next{kept, Remembers::OrderAndCables};
      led_elsewhere += writes(world, [&] { EXPECT_FALSE(next.sweep().failure); });
      EXPECT_FALSE(has_circle(world)) << "switch " << nth << ", cable " << cut;
      world.sim.fabric.set_agent_faults(silent, {});
      next.sweep();
      EXPECT_FALSE(has_circle(world)) << "switch " << nth << ", cable " << cut << ", when it is heard";
    }
  }
  EXPECT_GT(led_elsewhere, 100U);
}

// 1367, 1311, 1299 and 4000000005 of the swarm and others: what was changed around such a switch closed a
// circle with what passed it.
TEST(Provisioner, NothingChangesAroundASwitchThatIsSilentAtAStart) {
  std::size_t tried = 0;
  for (std::size_t nth = 1; nth < 16; ++nth) {
    KeptWorld kept{"torus:4x4,hosts=1,links=1"};
    World& world = kept.world;
    ASSERT_FALSE(world.bring_up().failure);
    kept.settle();
    const NodeIndex silent = world.switch_at(nth);
    if (!is_passed(world, silent)) continue;
    ++tried;
    world.sim.fabric.set_agent_faults(silent, {.mute_sma = true});
    Restarted next{kept};
    EXPECT_EQ(writes(world, [&] { EXPECT_FALSE(next.sweep().failure); }), 0U) << "switch " << nth;
    expect_works(world);
    world.sim.fabric.set_agent_faults(silent, {});
    next.sweep();
    EXPECT_TRUE(next.reports.back().tables_confirmed);
    expect_works(world);
  }
  EXPECT_GT(tried, 10U);
}

// 6000030016 of the swarm: an entry of a silent switch's host led over a cable that was out, and when that
// was back it closed a circle with what had been written since.
TEST(Provisioner, WhatLeadsToTheUnknownOverALinkThatIsDownIsTakenAway) {
  std::size_t had_some = 0;
  for (std::size_t nth = 1; nth < 16; ++nth) {
    KeptWorld kept{"torus:4x4,hosts=1,links=1"};
    World& world = kept.world;
    ASSERT_FALSE(world.bring_up().failure);
    kept.settle();
    const NodeIndex silent = world.switch_at(nth);
    const Link cable = world.truth().link(kept.switch_link(nth));
    if (cable.a.node == silent || cable.b.node == silent) continue;
    const auto entries_over_it = [&] {
      std::size_t count = 0;
      for (const LinkEnd& end : {cable.a, cable.b}) {
        const auto table = world.sim.fabric.forwarding_table(end.node);
        count += static_cast<std::size_t>(std::ranges::count(table, end.port));
      }
      return count;
    };
    had_some += entries_over_it() != 0 ? 1 : 0;
    world.sim.fabric.set_agent_faults(silent, {.mute_sma = true});
    world.sim.fabric.cut(kept.switch_link(nth), world.sim.fabric.now());
    Restarted next{kept};
    EXPECT_FALSE(next.sweep().failure);
    EXPECT_EQ(entries_over_it(), 0U) << "switch " << nth;
  }
  EXPECT_GT(had_some, 5U);
}

// 4000010416 of the swarm: a host that the daemon knows did not answer, what led to it stayed as it was with
// all else, and a switch that came back closed a circle with that.
TEST(Provisioner, AHostThatIsKnownAndSilentHoldsUpNothing) {
  KeptWorld kept{"torus:4x4,hosts=1,links=1"};
  World& world = kept.world;
  ASSERT_FALSE(world.bring_up().failure);
  kept.settle();
  const Fabric& truth = world.truth();
  NodeIndex host = no_node;
  for (std::uint32_t i = 0; i < truth.nodes().size(); ++i) {
    const bool is_host = truth.node(NodeIndex{i}).type != NodeType::Switch;
    if (is_host && NodeIndex{i} != truth.port(world.sim.port()).node) host = NodeIndex{i};
  }
  world.sim.fabric.set_agent_faults(host, {.mute_sma = true});
  world.discovery.full(world.sim.now);
  world.finish();
  kept.settle();
  const LinkRef link = link_ref(truth, truth.link(kept.switch_link(0)));
  ASSERT_TRUE(world.sm.may_use(link.a));
  kept.keeper.close({link});
  EXPECT_TRUE(rewrite_tables(world.sm, world.sim));
  EXPECT_FALSE(world.sm.may_use(link.a));
  EXPECT_FALSE(world.sm.may_use(link.b));
}

// A leaf passes nothing on, and its hosts send (6000000165 of the swarm: a spine had no path any more for
// what a silent leaf sent over it).
TEST(Provisioner, WhatASwitchThatIsSilentAtAStartSendsGoesOn) {
  KeptWorld kept{"tree:k=3,n=3"};
  World& world = kept.world;
  ASSERT_FALSE(world.bring_up().failure);
  kept.settle();
  const Fabric& truth = world.truth();
  const NodeIndex own =
      truth.peer({truth.port(world.sim.port()).node, truth.port(world.sim.port()).num})->node;
  NodeIndex leaf = no_node;
  for (std::uint32_t i = 0; i < truth.nodes().size(); ++i) {
    if (truth.node(NodeIndex{i}).description.starts_with("leaf-2") && NodeIndex{i} != own)
      leaf = NodeIndex{i};
  }
  ASSERT_NE(leaf, no_node);
  world.sim.fabric.set_agent_faults(leaf, {.mute_sma = true});
  Restarted next{kept};
  ASSERT_FALSE(next.sweep().failure);
  // All ways up from a switch above it are to go.
  NodeIndex spine = no_node;
  std::vector<LinkRef> up;
  for (const Link& link : truth.links()) {
    const bool above = link.a.node == leaf || link.b.node == leaf;
    const NodeIndex other = link.a.node == leaf ? link.b.node : link.a.node;
    if (above && truth.node(other).type == NodeType::Switch) spine = other;
  }
  for (const Link& link : truth.links()) {
    const NodeIndex other = link.a.node == spine ? link.b.node : link.a.node;
    const bool of_spine = link.a.node == spine || link.b.node == spine;
    if (of_spine && truth.node(other).description.starts_with("core")) up.push_back(link_ref(truth, link));
  }
  ASSERT_FALSE(up.empty());
  next.keeper.close(up);
  EXPECT_FALSE(rewrite_tables(next.sm, world.sim));
  for (std::uint32_t p = 0; p < truth.ports().size(); ++p) {
    const Lid lid = world.sim.fabric.port_info(PortIndex{p}).lid;
    const bool is_host = truth.node(truth.ports()[p].node).type != NodeType::Switch;
    if (is_host && lid != no_lid) {
      EXPECT_TRUE(leads_there(world.sim.fabric, leaf, lid)) << lid.raw();
    }
  }
}

// What an order takes out of use is in use as long as nobody can be led around it.
TEST(Provisioner, NoLinkIsCalledOutOfUseBesideASwitchThatIsSilentAtAStart) {
  KeptWorld kept{"torus:4x4,hosts=1,links=1"};
  World& world = kept.world;
  ASSERT_FALSE(world.bring_up().failure);
  kept.settle();
  world.sim.fabric.set_agent_faults(world.switch_at(10), {.mute_sma = true});
  Restarted next{kept};
  ASSERT_FALSE(next.sweep().failure);
  const LinkIndex link = kept.switch_link(0);
  next.keeper.close({link_ref(world.truth(), world.truth().link(link))});
  EXPECT_EQ(writes(world, [&] { EXPECT_FALSE(rewrite_tables(next.sm, world.sim)); }), 0U);
  expect_works(world);
}

}  // namespace
}  // namespace heddle::provision
