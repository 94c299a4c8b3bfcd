#include "regulation/cage_bonus.h"

#include <gtest/gtest.h>

#include <array>
#include <set>

#include "base/random.h"
#include "fabric/generators.h"
#include "regulation/link_policy.h"
#include "regulation/trunk_policy.h"

namespace heddle::regulation {
namespace {

/// Switches with cages of two ports: 0.1 W a port, 10 W a module.
power::PowerModel twin() {
  power::DeviceModel model;
  model.name = "twin";
  model.pattern = "*";
  model.ports = {{{LinkWidth::X4, LinkSpeed::Ddr}, Watts{0.1}}};
  model.modules[static_cast<std::size_t>(power::Cable::Optical)] = power::ModulePower{Watts{10}, {}};
  model.ports_a_cage = 2;
  return power::PowerModel{{model}, power::Unmatched::Unknown, power::Cable::Optical};
}

/// Modules of switches that are lit by the links in `active`, or by those that are no trunk's.
double modules_lit(const Network& network, const routing::LinkSet& active) {
  const Fabric& fabric = network.fabric();
  std::set<std::pair<std::uint32_t, unsigned>> lit;
  for (std::uint32_t i = 0; i < fabric.links().size(); ++i) {
    const Link& link = fabric.link(LinkIndex{i});
    const bool on = active.contains(LinkIndex{i}) || network.trunk_of(LinkIndex{i}) == Network::no_trunk;
    for (const LinkEnd end : {link.a, link.b}) {
      if (on && fabric.node(end.node).type == NodeType::Switch)
        lit.insert({end.node.raw(), (end.port.raw() - 1U) / 2});
    }
  }
  return 10.0 * static_cast<double>(lit.size());
}

class CageBonusTest : public testing::Test {
 protected:
  // Hosts at the last ports, trunks of three beside them: most cages are shared between two trunks.
  std::shared_ptr<const Fabric> fabric_ = *assign_lids(**generate("torus:3x3,hosts=1,links=3,speed=DDR"), 1);
  power::PowerModel power_ = twin();
  std::unique_ptr<Network> network_ = Network::make(fabric_, {}).value();
  CageBonus cages_{power_, *network_};
};

TEST_F(CageBonusTest, NothingWhereEachPortHasItsOwn) {
  EXPECT_FALSE(cages_.none());
  const power::PowerModel papers;
  EXPECT_TRUE((CageBonus{papers, *network_}.none()));
}

// Against a count of modules that knows no shares.
TEST_F(CageBonusTest, WhatGoesDarkIsWhatModulesSave) {
  Random random{3};
  for (int round = 0; round < 20; ++round) {
    routing::LinkSet active = routing::LinkSet::all(*fabric_);
    for (std::uint32_t i = 0; i < fabric_->links().size(); ++i) {
      if (network_->trunk_of(LinkIndex{i}) != Network::no_trunk && random.chance(0.5))
        active.erase(LinkIndex{i});
    }
    for (std::uint32_t i = 0; i < fabric_->links().size(); ++i) {
      const LinkIndex link{i};
      if (network_->trunk_of(link) == Network::no_trunk || !active.contains(link)) continue;
      routing::LinkSet fewer = active;
      fewer.erase(link);
      // Shares of 5 W at both ends, besides the bonus and what is wasted by leaving alone.
      const double saved = 10 + cages_.wasted(active) - cages_.wasted(fewer);
      EXPECT_NEAR(saved, modules_lit(*network_, active) - modules_lit(*network_, fewer), 1e-9) << i;
      if (cages_.darkens(link, active) > 0) {
        EXPECT_GT(saved, 9);
      }
    }
  }
}

TEST_F(CageBonusTest, PortsOfACageLeaveTogether) {
  const Trunk& trunk = network_->trunks().front();
  std::vector<LinkIndex> links(trunk.links.rbegin(), trunk.links.rend());
  cages_.sort(links, routing::LinkSet::all(*fabric_));
  const auto cage = [&](LinkIndex link) { return (fabric_->link(link).a.port.raw() - 1U) / 2; };
  ASSERT_EQ(links.size(), 3U);
  // Two of three share one at either end, or none do.
  const bool pair_first = cage(links[0]) == cage(links[1]);
  const bool any_pair = pair_first || cage(links[1]) == cage(links[2]) || cage(links[0]) == cage(links[2]);
  EXPECT_EQ(pair_first, any_pair);
}

// Two of the four links of each trunk may go. By their loads alone two leave that share no module.
TEST(CageChoice, PrefersBothPortsOfACage) {
  const auto fabric = *assign_lids(**generate("torus:3x3,hosts=1,links=4,speed=DDR"), 1);
  const auto network = Network::make(fabric, {}).value();
  const auto all = routing::LinkSet::all(*fabric);
  const std::vector<Exempt> exempt = exemptions(*fabric, {}, {}, {});
  const double capacity = network->capacity(network->trunks().front().links.front());
  MeasuredLoads measured;
  measured.hop.assign(network->graph().hop_count(), 0);
  measured.waiting = measured.hop;
  std::vector<double> predicted = measured.hop;
  for (const Trunk& trunk : network->trunks()) {
    ASSERT_EQ(trunk.links.size(), 4U);
    constexpr std::array shares{0.1, 0.4, 0.2, 0.3};
    for (std::size_t i = 0; i < shares.size(); ++i) {
      measured.hop[network->up_hop(trunk.links[i])] = 0.2 * capacity;
      predicted[network->up_hop(trunk.links[i])] = shares[i] * capacity;
    }
  }
  const auto lit = [&](const power::PowerModel& power) {
    SelectionProblem problem;
    problem.network = network.get();
    problem.power = &power;
    problem.exempt = exempt;
    problem.available = problem.current = &all;
    problem.loads = &measured;
    const TrunkChoice choice = choose_by_trunks(problem, {}, predicted);
    EXPECT_EQ(all.count() - choice.active.count(), 2 * network->trunks().size());
    return modules_lit(*network, choice.active);
  };
  EXPECT_LT(lit(twin()), lit(power::PowerModel{}));
}

}  // namespace
}  // namespace heddle::regulation
