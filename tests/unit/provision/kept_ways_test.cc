// Ways that work and that the order does not give: what links that are to go off are not to take.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <set>
#include <utility>

#include "provision_world.h"

namespace heddle::provision {
namespace {

/// From switches with hosts to LIDs of hosts, of all planes.
using Ways = std::set<std::pair<NodeIndex, Lid>>;

Ways ways_to_hosts(const World& world) {
  Ways ways;
  const Fabric& truth = world.truth();
  for (std::uint32_t to = 0; to < truth.nodes().size(); ++to) {
    if (truth.nodes()[to].type == NodeType::Switch) continue;
    const mad::PortInfo& info = world.sim.fabric.port_info(truth.port_index({NodeIndex{to}, PortNum{1}}));
    for (std::uint32_t host = 0; host < truth.nodes().size(); ++host) {
      if (truth.nodes()[host].type == NodeType::Switch) continue;
      const NodeIndex from = truth.peer({NodeIndex{host}, PortNum{1}})->node;
      for (unsigned i = 0; i < (1U << info.lmc); ++i) {
        const Lid lid{static_cast<std::uint16_t>(info.lid.raw() + i)};
        if (leads_there(world.sim.fabric, from, lid)) ways.emplace(from, lid);
      }
    }
  }
  return ways;
}

// Random run 1200238 of the real programs, which was beside OpenSM, with heddled as subnet manager.
TEST(KeptWays, StayWhereTheirLinksAreToBeAvoidedOrToGoOff) {
  std::size_t apart = 0;
  std::size_t rounds = 0;
  for (std::size_t nth = 0;; ++nth) {
    KeptWorld kept{"random:switches=10,hosts=20,links=20,seed=1200238"};
    World& world = kept.world;
    ASSERT_FALSE(world.bring_up().failure);
    const LinkIndex cut = kept.switch_link(nth);
    if (cut == no_link) break;
    world.sim.fabric.cut(cut, world.sim.fabric.now());
    world.bring_up();
    if (kept.keeper.unconnected() == 0) continue;
    apart += kept.keeper.unconnected();
    const Ways before = ways_to_hosts(world);
    for (std::size_t other = 0; kept.switch_link(other) != no_link; ++other) {
      if (other == nth) continue;
      const Fabric& truth = world.truth();
      const LinkRef link = link_ref(truth, truth.link(kept.switch_link(other)));
      SCOPED_TRACE(to_string(link.a));
      kept.keeper.avoid(0, {link});
      EXPECT_TRUE(rewrite_tables(world.sm, world.sim));
      EXPECT_TRUE(std::ranges::includes(ways_to_hosts(world), before)) << "avoided";
      kept.keeper.close({link}, {link});
      EXPECT_TRUE(rewrite_tables(world.sm, world.sim));
      EXPECT_TRUE(std::ranges::includes(ways_to_hosts(world), before)) << "going";
      kept.keeper.avoid(0, {});
      kept.keeper.close({});
      EXPECT_TRUE(rewrite_tables(world.sm, world.sim));
      ++rounds;
    }
  }
  EXPECT_GT(apart, 0U);
  EXPECT_GT(rounds, 0U);
}

// Likewise run 1500014: the way is in one of two planes, and the other one avoids its link.
TEST(KeptWays, StayWhereOnlyTheOtherPlaneAvoidsTheirLinks) {
  ProvisionOptions options;
  options.ports.lmc = 1;
  KeptWorld kept{"random:switches=10,hosts=20,links=20,seed=1200238", options};
  World& world = kept.world;
  ASSERT_FALSE(world.bring_up().failure);
  const Fabric& truth = world.truth();
  world.sim.fabric.kill(world.switch_at(1), world.sim.fabric.now());
  world.bring_up();
  world.sim.fabric.cut(kept.switch_link(1), world.sim.fabric.now());
  world.bring_up();
  EXPECT_GT(kept.keeper.unconnected(), 0U);
  const Ways before = ways_to_hosts(world);
  for (std::size_t nth = 0; kept.switch_link(nth) != no_link; ++nth) {
    const LinkRef link = link_ref(truth, truth.link(kept.switch_link(nth)));
    SCOPED_TRACE(to_string(link.a));
    for (unsigned plane = 2; plane-- > 0;) {  // the one without traffic first
      kept.keeper.avoid(plane, {link});
      EXPECT_TRUE(rewrite_tables(world.sm, world.sim));
      EXPECT_TRUE(std::ranges::includes(ways_to_hosts(world), before)) << "plane " << plane;
    }
    for (unsigned plane = 0; plane < 2; ++plane) kept.keeper.avoid(plane, {});
    EXPECT_TRUE(rewrite_tables(world.sm, world.sim));
  }
}

}  // namespace
}  // namespace heddle::provision
