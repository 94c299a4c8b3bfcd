// What goes over to another topology, and from an earlier run: links that come in sight, or may still go off.

#include <gtest/gtest.h>

#include <vector>

#include "unit/regulation/governor_world.h"

namespace heddle::regulation {
namespace {

using testing_support::World;

const char* const topology_spec = "torus:3x3,hosts=1,links=2";

enum class Seen : std::uint8_t { No, Down };

std::shared_ptr<const Fabric> with(const Fabric& fabric, LinkIndex link, Seen seen) {
  FabricBuilder builder;
  for (const Node& node : fabric.nodes()) {
    const NodeIndex as = *builder.add_node(node);
    for (unsigned p = 0; p <= node.port_count; ++p) {
      Port port = fabric.port(PortIndex{node.first_port.raw() + p});
      if (port.link == link && seen == Seen::Down) port.state = PortState::Down;
      (void)builder.set_port(as, port);
    }
  }
  for (std::uint32_t i = 0; i < fabric.links().size(); ++i) {
    const Link& each = fabric.link(LinkIndex{i});
    const bool is_there = LinkIndex{i} != link || seen != Seen::No;
    if (is_there) (void)builder.add_link(each.a, each.b, each.width, each.speed);
  }
  return builder.build(fabric.epoch());
}

std::shared_ptr<const Fabric> without(const Fabric& fabric, LinkIndex link) {
  return with(fabric, link, Seen::No);
}

/// The journal of an earlier run has it.
void put_off(World& world, LinkIndex link, Cause cause) {
  const LinkRef ref = world.ref(link);
  world.journal.off[ref] = {
      ref, ref.a, power::mode_of(world.fabric->link(link)), power::off_mode, cause, world.now, "tried"};
  world.journal.last = ChangeId{1};
}

// Its switch was away when the daemon began, and powered it up: it counted as off for good, and was in no
// order.
TEST(OtherTopologyTest, WhatTheJournalHasOffAndComesInSightUpIsOn) {
  GovernorOptions options = World::default_options();
  options.mode = Mode::Advise;
  World world{topology_spec, options};
  LinkIndex link{};
  while (world.network->trunk_of(link) == Network::no_trunk) link = LinkIndex{link.raw() + 1};
  put_off(world, link, Cause::Operator);
  world.tell(TopologyChanged{without(*world.fabric, link), {world.manager()}, {}});
  world.tell(Restarted{world.journal, {}});
  world.tell(TopologyChanged{world.fabric, {world.manager()}, {}});
  world.expect_settled();
  EXPECT_TRUE(world.journal.off.empty());
}

// 4825464403 of the swarm: the daemon was killed when it had just told a port to go off. The next one found
// the link up, took it into use, and when the MAD had arrived it was a port that somebody else had disabled.
TEST(OtherTopologyTest, WhatMayStillGoOffIsOutOfUseUntilItIsOrderedOn) {
  World world{topology_spec};
  LinkIndex link{};
  while (world.network->trunk_of(link) == Network::no_trunk) link = LinkIndex{link.raw() + 1};
  put_off(world, link, Cause::Regulation);
  const LinkRef ref = world.ref(link);
  const ChangeId change{1};
  world.journal.open[change] = {change, world.now, {world.journal.off.at(ref)}, {}};
  world.journal.off.clear();
  (void)world.governor.on({world.now, TopologyChanged{world.fabric, {world.manager()}, {}}});
  std::vector<LinkRef> on;
  bool is_recorded = false;
  for (const Action& action : world.governor.on({world.now, Restarted{world.journal, {}}})) {
    if (const auto* order = std::get_if<SetPorts>(&action)) {
      for (const auto& port : order->ports) {
        if (port.mode.on()) on.push_back(port.link);
      }
    }
    const auto* record = std::get_if<Record>(&action);
    const auto* outcome = record != nullptr ? std::get_if<Outcome>(record) : nullptr;
    is_recorded =
        is_recorded || (outcome != nullptr && outcome->change == change && outcome->off.size() == 1);
    if (const auto* tables = std::get_if<WriteTables>(&action)) {
      EXPECT_FALSE(tables->active.contains(link));
    }
  }
  EXPECT_EQ(on, std::vector{ref});
  EXPECT_TRUE(is_recorded) << "whoever is started next knows it for this program's";
}

// One was ordered on together with one whose switch was gone: the order was not carried out before that one
// had been given up, and until then the link that was up was in no table.
TEST(OtherTopologyTest, NoLinkThatIsNotInSightWaitsForAnother) {
  GovernorOptions options = World::default_options();
  options.mode = Mode::Advise;
  World world{topology_spec, options};
  std::shared_ptr<const Fabric> seen = world.fabric;
  for (std::size_t i = world.fabric->links().size(); i-- > 0 && world.journal.off.size() < 2;) {
    const LinkIndex link{static_cast<std::uint32_t>(i)};
    if (world.network->trunk_of(link) == Network::no_trunk) continue;
    put_off(world, link, Cause::Operator);
    seen = without(*seen, link);  // the later ones first: indices of the others stay
  }
  (void)world.governor.on({world.now, TopologyChanged{seen, {world.manager()}, {}}});
  (void)world.governor.on({world.now, Restarted{world.journal, {}}});
  std::vector<std::size_t> ports;
  for (const Action& action : world.governor.on({world.now, Restore{"bob", CommandId{3}}})) {
    if (const auto* order = std::get_if<SetPorts>(&action)) ports.push_back(order->ports.size());
  }
  EXPECT_EQ(ports, (std::vector<std::size_t>{1, 1}));
  // What asked for them may ask at each event, and an order for somebody who is not there fails at once.
  for (const Action& action : world.governor.on({world.now, Restore{"bob", CommandId{4}}}))
    EXPECT_FALSE(std::holds_alternative<SetPorts>(action));
}

// 291353488 of the swarm: everything was to come back, the order failed since the link's switch was not
// there, and when it was, the link stayed off.
TEST(OtherTopologyTest, WhatWasToComeBackAndWasNotInSightComesBackOnceItIs) {
  World world{topology_spec};
  LinkIndex link{};
  while (world.network->trunk_of(link) == Network::no_trunk) link = LinkIndex{link.raw() + 1};
  const LinkRef ref = world.ref(link);
  put_off(world, link, Cause::Regulation);
  const auto on = [&](auto what) {
    std::vector<StepId> orders;
    for (const Action& action : world.governor.on({world.now, std::move(what)})) {
      const auto* order = std::get_if<SetPorts>(&action);
      if (order != nullptr && order->ports.front().link == ref) orders.push_back(order->step);
    }
    return orders;
  };
  on(TopologyChanged{without(*world.fabric, link), {world.manager()}, {}});
  on(Restarted{world.journal, {ref}});
  const auto tried = on(Restore{"bob", CommandId{3}});
  ASSERT_EQ(tried.size(), 1U);
  on(StepFailed{tried.front(), "it is not in the fabric", {ref}});
  EXPECT_EQ(on(TopologyChanged{with(*world.fabric, link, Seen::Down), {world.manager()}, {}}).size(), 1U);
}

}  // namespace
}  // namespace heddle::regulation
