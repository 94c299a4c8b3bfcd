// At which end links are turned off: what a single cut takes away should come back by what is off, and an end
// that nobody reaches cannot be turned on again.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <vector>

#include "unit/regulation/governor_world.h"

namespace heddle::regulation {
namespace {

using routing::SwitchIndex;
using testing_support::World;

/// A cable between switches: on, or off at one of its ends.
struct CableAt {
  SwitchIndex a;
  SwitchIndex b;
  bool is_on = true;
  bool is_off_at_a = false;
};

/// Hosts that a manager does not reach after each single cut of a cable that is on, though cables lead there.
struct Cost {
  std::size_t worst = 0;
  std::size_t sum = 0;
};

class Cuts {
 public:
  explicit Cuts(const World& world) : graph_{world.network->graph()} {
    const Network& network = *world.network;
    manager_ = network.manager_switches().front();
    const Fabric& fabric = network.fabric();
    for (std::uint32_t i = 0; i < fabric.links().size(); ++i) {
      if (network.trunk_of(LinkIndex{i}) == Network::no_trunk) continue;
      const Link& link = fabric.link(LinkIndex{i});
      CableAt cable{graph_.find(link.a.node), graph_.find(link.b.node)};
      if (const auto off = world.journal.off.find(world.ref(LinkIndex{i})); off != world.journal.off.end()) {
        cable.is_on = false;
        cable.is_off_at_a = off->second.port == fabric.ref(link.a);
      }
      cables.push_back(cable);
    }
  }

  [[nodiscard]] Cost cost() const {
    Cost cost;
    for (const CableAt& cut : cables) {
      if (!cut.is_on) continue;
      const std::size_t lost = hosts_reached(&cut, Ends::Either) - hosts_reached(&cut, Ends::WhereOff);
      cost.worst = std::max(cost.worst, lost);
      cost.sum += lost;
    }
    return cost;
  }

  /// Of all ways to choose the ends, the least worst cut, and the least sum.
  [[nodiscard]] Cost best() {
    const std::vector<CableAt> kept = cables;
    std::vector<CableAt*> off;
    for (CableAt& cable : cables) {
      if (!cable.is_on) off.push_back(&cable);
    }
    Cost best = cost();
    for (std::uint32_t choice = 0; choice < 1U << off.size(); ++choice) {
      for (std::size_t i = 0; i < off.size(); ++i) off[i]->is_off_at_a = (choice >> i & 1U) != 0;
      const Cost cost = this->cost();
      best.worst = std::min(best.worst, cost.worst);
      best.sum = std::min(best.sum, cost.sum);
    }
    cables = kept;
    return best;
  }

  std::vector<CableAt> cables;

 private:
  enum class Ends : std::uint8_t { Either, WhereOff };  ///< at which a cable that is off can be turned on

  [[nodiscard]] std::size_t hosts_reached(const CableAt* cut, Ends ends) const {
    std::vector<std::uint8_t> reached(graph_.size(), 0);
    reached[manager_.raw()] = 1;
    for (bool more = true; more;) {
      more = false;
      for (const CableAt& cable : cables) {
        const bool from_a = reached[cable.a.raw()] != 0;
        if (&cable == cut || from_a == (reached[cable.b.raw()] != 0)) continue;
        if (!cable.is_on && ends == Ends::WhereOff && cable.is_off_at_a != from_a) continue;
        reached[cable.a.raw()] = reached[cable.b.raw()] = 1;
        more = true;
      }
    }
    std::size_t hosts = 0;
    for (std::uint32_t s = 0; s < graph_.size(); ++s)
      hosts += reached[s] != 0 ? graph_.hosts_at(SwitchIndex{s}) : 0;
    return hosts;
  }

  const routing::SwitchGraph& graph_;
  SwitchIndex manager_;
};

/// Everything is off that may be.
World with_the_least_on(const std::string& spec) {
  GovernorOptions options = World::default_options();
  options.select.policy = SelectPolicy::General;
  World world{spec, options};
  world.start();
  world.run(std::chrono::minutes{10});
  return world;
}

TEST(CommandedSide, WhatHangsByOneCableIsReachedByAsManySparesAsCanBe) {
  World world = with_the_least_on("random:switches=10,hosts=20,links=20,seed=510326");
  Cuts cuts{world};
  EXPECT_EQ(cuts.best().worst, 2U);
  EXPECT_EQ(cuts.cost().worst, 2U);
}

/// One change turns eleven links off. Each end is looked at once, as the other ends are, and what comes of
/// that is the best of all 2,048 ways to choose them.
TEST(CommandedSide, CutsCostNoMoreHostsThanTheyMust) {
  for (unsigned seed = 1; seed <= 30; ++seed) {
    SCOPED_TRACE(seed);
    const World world = with_the_least_on(fmt::format("random:switches=10,hosts=20,links=20,seed={}", seed));
    EXPECT_EQ(world.off(), 11U);
    Cuts cuts{world};
    const Cost cost = cuts.cost();
    const Cost best = cuts.best();
    EXPECT_EQ(cost.worst, best.worst);
    EXPECT_EQ(cost.sum, best.sum);
  }
}

}  // namespace
}  // namespace heddle::regulation
