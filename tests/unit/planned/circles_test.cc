// Packets that wait for one another while a pass of OpenSM's is written: repairs turn them as the order
// allows, and what stands may still turn them as an earlier one did.
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <functional>
#include <numeric>
#include <string>

#include "base/random.h"
#include "planned/lost_cables.h"
#include "planned/route_maker.h"
#include "planned/tables_in_force.h"
#include "planned/transition.h"
#include "routing/dependencies.h"
#include "routing/hop_map.h"
#include "unit/planned/subnets.h"

namespace heddle::planned {
namespace {

using routing::ForwardingTables;
using routing::HopMap;
using routing::SwitchIndex;

SubnetRecords without(SubnetRecords records, const LinkRef& link) {
  remove(records, link);
  return records;
}

/// Some switches have the one, and some the other. Nobody waits for a cable that is not in use.
bool mixtures_have_circle(const routing::SwitchGraph& graph, const routing::LinkSet& usable,
                          const ForwardingTables& now, const ForwardingTables& next) {
  const HopMap map{graph};
  const std::vector<char> is_used = routing::hops_over(graph, &usable);
  routing::Dependencies all(graph);
  for (const routing::Target& target : graph.targets()) {
    for (unsigned i = 0; i < target.lid_count(); ++i) {
      const Lid lid{static_cast<std::uint16_t>(target.base.raw() + i)};
      for (std::uint32_t s = 0; s < graph.size(); ++s) {
        for (const ForwardingTables* first : {&now, &next}) {
          const std::uint32_t by = map.hop(s, first->port(SwitchIndex{s}, lid).raw());
          if (SwitchIndex{s} == target.at || by == HopMap::none || is_used[by] == 0) continue;
          const SwitchIndex over{map.peer(by)};
          for (const ForwardingTables* then : {&now, &next}) {
            const std::uint32_t on = map.hop(over.raw(), then->port(over, lid).raw());
            if (over != target.at && on != HopMap::none && is_used[on] != 0) all.add(by, on, lid);
          }
        }
      }
    }
  }
  return !all.find_cycle().empty();
}

bool ends_at(const LinkRef& link, NodeGuid node) { return link.a.node == node || link.b.node == node; }

LinkRef cable_at(const SubnetRecords& records, const std::string& end) {
  const auto links = trunks_of(records);
  return *std::ranges::find(links, end, [](const LinkRef& link) { return to_string(link.a); });
}

struct Swap {
  const char* missing;  ///< at first
  const char* lost;     ///< when that one comes
};
class Circles : public testing::TestWithParam<Swap> {};

// Worlds 4000000059 and 6000000088 of the swarm: a cable comes while another one is lost, so that the mends
// are others; what the loss has broken was repaired by these at once.
TEST_P(Circles, ARepairWaitsForWhatStandsByAnEarlierOrder) {
  const SubnetRecords whole = records_of(*fabric_of("torus:4x4,hosts=1,links=1"));
  RouteMaker earlier;
  const Subnet part = make_subnet(without(whole, cable_at(whole, GetParam().missing)), {});
  ForwardingTables now = earlier.make(part, nullptr, 0).value().tables;
  plan::Plan plan;
  for (std::uint32_t s = 0; s < earlier.router().graph().size(); ++s)
    plan.ranks.emplace_back(earlier.router().graph().guid(SwitchIndex{s}),
                            earlier.router().ranks().rank(SwitchIndex{s}));
  const Subnet subnet = make_subnet(without(whole, cable_at(whole, GetParam().lost)), {});
  RouteMaker maker;
  const ForwardingTables wanted = maker.make(subnet, &plan, 0).value().tables;
  const auto& graph = maker.router().graph();
  auto packets = Packets::UnderWay;
  for (std::size_t passes = 0; passes < 200; ++passes) {
    const Pass pass = next_pass({graph, maker.router().ranks(), maker.router().mends(), &subnet.usable}, now,
                                wanted, packets);
    if (!pass.writes && pass.behind == 0) break;
    ASSERT_TRUE(pass.writes || packets == Packets::UnderWay) << "it stands still";
    EXPECT_FALSE(mixtures_have_circle(graph, subnet.usable, now, pass.tables)) << "pass " << passes;
    packets = pass.writes ? Packets::UnderWay : Packets::Gone;
    now = pass.tables;
  }
  EXPECT_EQ(now, wanted);
}

/// One OpenSM, and the passes of its plugin.
class Passes {
 public:
  Passes() { plan_.planes.resize(2); }
  void avoid(const std::vector<LinkRef>& links) {
    for (plan::Plane& plane : plan_.planes) plane.avoid = links;
  }
  /// From here on cables that are lost and in the way are left.
  void leave_lost() { leaves_lost_ = true; }
  [[nodiscard]] std::size_t left() const { return left_; }
  [[nodiscard]] std::size_t apart() const { return apart_; }
  /// Until tables stand that the plugin is content with.
  void route(const SubnetRecords& records) {
    pass_through(records);
    // Of what the first passes took out of use.
    if (leaves_later_) pass_through(records);
  }

 private:
  void pass_through(SubnetRecords records) {
    const std::vector<LinkRef> lost = cables_.missing(records);
    Subnet subnet = make_subnet(records, lost);
    Routes routes = maker_.make(subnet, &plan_, 1, &in_force_).value();
    const auto leave = leaves_lost_ ? lost_cables_.look(maker_, routes, records, lost, &plan_, 1, in_force_)
                                    : LostCables::Leave::No;
    leaves_later_ = leave == LostCables::Leave::Later;
    if (leave == LostCables::Leave::Now) {
      ++left_;
      cables_.leave(lost);
      subnet = make_subnet(records, {});
      routes = maker_.make(subnet, &plan_, 1, &in_force_).value();
    }
    apart_ = routes.unconnected;
    in_force_.keep(switches_in_sight(subnet));
    const auto& graph = maker_.router().graph();
    for (std::size_t passes = 0; passes < 200; ++passes) {
      if (packets_ == Packets::Gone) in_force_.forget_packets();
      const Pass pass = maker_.next_pass(subnet, routes, in_force_, packets_);
      ASSERT_TRUE(pass.writes || pass.behind == 0 || packets_ == Packets::UnderWay) << "it stands still";
      const ForwardingTables now = in_force_.of(graph, routes.tables.top());
      EXPECT_FALSE(mixtures_have_circle(graph, subnet.usable, now, pass.tables)) << "pass " << passes;
      for (std::uint32_t s = 0; s < graph.size(); ++s) {
        const SwitchIndex sw{s};
        if (subnet.fabric->find_node(graph.guid(sw)) == no_node) continue;
        in_force_.confirm(graph.guid(sw), pass.tables.row(sw), pass.tables.row(sw));
      }
      in_force_.end_pass();
      packets_ = pass.writes ? Packets::UnderWay : Packets::Gone;
      if (!pass.writes && pass.behind == 0) {
        if (!routes.relaxed && !pass.relaxed) expect_led_over(graph, routes.permitted, pass.tables);
        return;
      }
    }
    ADD_FAILURE() << "it does not end";
  }

  static void expect_led_over(const routing::SwitchGraph& graph, const routing::LinkSet& links,
                              const ForwardingTables& tables) {
    for (std::uint32_t s = 0; s < graph.size(); ++s) {
      const auto row = tables.row(SwitchIndex{s});
      for (const routing::Hop& hop : graph.hops(SwitchIndex{s}))
        EXPECT_TRUE(links.contains(hop.link) || std::ranges::find(row, hop.out.raw()) == row.end());
    }
  }

  plan::Plan plan_;
  CableMemory cables_;
  LostCables lost_cables_;
  bool leaves_lost_ = false;
  bool leaves_later_ = false;
  std::size_t left_ = 0;
  std::size_t apart_ = 0;
  RouteMaker maker_;
  TablesInForce in_force_;
  Packets packets_ = Packets::Gone;
};

void remove_node(SubnetRecords& records, NodeGuid node) {
  std::erase_if(records.nodes, [&](const Node& each) { return each.guid == node; });
  std::erase_if(records.lids, [&](const PortLids& each) { return each.port.node == node; });
  std::erase_if(records.cables, [&](const Cable& each) { return ends_at(each.link, node); });
}

/// A switch, with its hosts: nobody sees them.
SubnetRecords without(SubnetRecords records, NodeGuid node) {
  std::vector<NodeGuid> hosts;
  for (const Cable& cable : records.cables) {
    const NodeGuid other = cable.link.a.node == node ? cable.link.b.node : cable.link.a.node;
    if (!cable.joins_switches && ends_at(cable.link, node)) hosts.push_back(other);
  }
  for (const NodeGuid host : hosts) remove_node(records, host);
  remove_node(records, node);
  return records;
}

SubnetRecords with_training(SubnetRecords records, const std::function<bool(const LinkRef&)>& trains) {
  for (Cable& cable : records.cables) cable.active = !cable.joins_switches || !trains(cable.link);
  return records;
}

/// Links go and come, and switches.
class Troubles {
 public:
  explicit Troubles(std::uint64_t seed) : random_{seed} {
    for (const Node& node : fabric_->nodes()) {
      if (node.type == NodeType::Switch) switches_.push_back(node.guid);
    }
  }
  [[nodiscard]] const SubnetRecords& whole() const { return whole_; }
  void befall(Passes& opensm) {
    const LinkRef cut = trunks_[random_.below(trunks_.size())];
    const NodeGuid dead = switches_[random_.below(switches_.size())];
    const auto is_cut = [&](const LinkRef& link) { return link == cut; };
    const auto is_dead = [&](const LinkRef& link) { return ends_at(link, dead); };
    switch (random_.below(3)) {
      case 0:
        opensm.route(without(whole_, cut));
        opensm.route(with_training(whole_, is_cut));
        break;
      case 1:
        opensm.route(without(whole_, dead));
        opensm.route(with_training(whole_, is_dead));
        break;
      default:
        opensm.route(without(whole_, dead));
        opensm.route(with_training(whole_, is_dead));
        opensm.route(whole_);
        opensm.route(without(whole_, cut));
        opensm.route(without(without(whole_, dead), cut));
        opensm.route(with_training(without(whole_, dead), is_cut));
        opensm.route(with_training(whole_, is_dead));
        break;
    }
  }
  [[nodiscard]] std::vector<LinkRef> some_links() {
    std::vector<LinkRef> links;
    for (std::size_t count = random_.below(9); count > 0; --count)
      links.push_back(trunks_[random_.below(trunks_.size())]);
    return links;
  }

 private:
  std::shared_ptr<const Fabric> fabric_ = fabric_of("torus:4x4,hosts=1,links=1", 1);
  SubnetRecords whole_ = records_of(*fabric_);
  std::vector<LinkRef> trunks_ = trunks_of(whole_);
  std::vector<NodeGuid> switches_;
  Random random_;
};

// Worlds 4000020449 and 6000020829 of the swarm: switches and cables go, train and come back. LIDs are to
// change in turns, some on third ways, and each pass planned the whole way anew.
TEST(PassesAfterAnother, CloseNoCircle) {
  std::vector<std::uint64_t> seeds(60);
  std::iota(seeds.begin(), seeds.end(), std::uint64_t{0});
  // Some LID had no way that closes no circle but where others go on by other entries than the first ones
  // found.
  seeds.insert(seeds.end(), {94, 148, 277});
  for (const std::uint64_t seed : seeds) {
    SCOPED_TRACE(seed);
    Troubles troubles{seed};
    Passes opensm;
    opensm.route(troubles.whole());
    for (int times = 0; times < 6; ++times) {
      troubles.befall(opensm);
      opensm.route(troubles.whole());
    }
  }
}

TEST(PassesAfterAnother, CloseNoCircleWithoutWhatIsLost) {
  std::size_t left = 0;
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    SCOPED_TRACE(seed);
    Troubles troubles{seed};
    Passes opensm;
    opensm.leave_lost();
    opensm.route(troubles.whole());
    for (int times = 0; times < 6; ++times) {
      troubles.befall(opensm);
      opensm.route(troubles.whole());
    }
    left += opensm.left();
  }
  EXPECT_GT(left, 0U);
}

// Of a ring that is cut the order leaves a line whose lowest switch nobody may pass.
TEST(LostCables, AreLeftWhereTheyKeepHostsApart) {
  for (const char* spec : {"torus:4,hosts=2", "torus:6,hosts=1", "torus:4x4,hosts=1,links=1"}) {
    SCOPED_TRACE(spec);
    const SubnetRecords whole = records_of(*fabric_of(spec, 1));
    Passes opensm;
    opensm.leave_lost();
    opensm.route(whole);
    for (const LinkRef& cable : trunks_of(whole)) {
      SCOPED_TRACE(to_string(cable.a));
      opensm.route(without(whole, cable));
      EXPECT_EQ(opensm.apart(), 0U);
      opensm.route(with_training(whole, [&](const LinkRef& link) { return link == cable; }));
      opensm.route(whole);
      EXPECT_EQ(opensm.apart(), 0U);
    }
    EXPECT_GT(opensm.left(), 0U);
  }
}

// Random run 270641 of the real programs: links had come back just before, the plugin knew the plan of their
// last stage, and hosts stayed apart until the cable was mended.
TEST(LostCables, WaitForAnUpdateThatIsUnderWay) {
  const SubnetRecords whole = records_of(*fabric_of("torus:4,hosts=2"));
  const LinkRef cable = trunks_of(whole).front();
  plan::Plan plan;
  plan.planes.resize(1);
  RouteMaker maker;
  LostCables lost_cables;
  TablesInForce in_force;
  // Tables that lead nowhere yet: no cable is in use.
  ASSERT_TRUE(maker.make(make_subnet(whole, {}), &plan, 0));
  const SubnetRecords seen = without(whole, cable);
  const auto look = [&] {
    const std::vector<LinkRef> lost{cable};
    const Routes routes = maker.make(make_subnet(seen, lost), &plan, 0).value();
    EXPECT_NE(routes.unconnected, 0U);
    return lost_cables.look(maker, routes, seen, lost, &plan, 0, in_force);
  };
  plan.planes[0].staged = plan::Staged{{trunks_of(whole).back()}, 0};
  EXPECT_EQ(look(), LostCables::Leave::Later);
  plan.planes[0].avoid = plan.planes[0].staged->from;
  plan.planes[0].staged.reset();
  EXPECT_EQ(look(), LostCables::Leave::No) << "it keeps links out of use";
  plan.planes[0].avoid.clear();
  EXPECT_EQ(look(), LostCables::Leave::Now);
}

// A sweep that writes nothing is no reason to wait anew: links that have come up send traps for seconds.
TEST(LostCables, AreLookedAtWhenTablesHaveRested) {
  using std::chrono::seconds;
  const LostCables::Clock::time_point written{seconds{100}};
  EXPECT_EQ(LostCables::again_at(written, written), written + seconds{5});
  EXPECT_EQ(LostCables::again_at(written, written + seconds{1}), written + seconds{5});
  EXPECT_EQ(LostCables::again_at(written, written + seconds{5}), written + seconds{10}) << "it is in use";
  EXPECT_EQ(LostCables::again_at({}, written), written + seconds{5}) << "nothing was ever written";
}

// World 4000040062 of the swarm: the plan takes links out of use while LIDs keep routes of an earlier order.
// Those that could be led off these links in no way that closes no circle were led off them in a circle.
TEST(PassesAfterAnother, CloseNoCircleToAvoidLinks) {
  std::vector<std::uint64_t> seeds(60);
  std::iota(seeds.begin(), seeds.end(), std::uint64_t{0});
  // LIDs could neither change nor stay: a switch that was back had no way to them. For two seeds there were
  // ways enough if these were asked first, for the others only once some entries were away.
  seeds.insert(seeds.end(), {519, 582, 84, 108, 112, 220, 305});
  for (const std::uint64_t seed : seeds) {
    SCOPED_TRACE(seed);
    Troubles troubles{seed};
    Passes opensm;
    opensm.route(troubles.whole());
    for (int times = 0; times < 6; ++times) {
      opensm.avoid({});
      troubles.befall(opensm);
      opensm.avoid(troubles.some_links());
      opensm.route(troubles.whole());
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Some, Circles,
                         testing::Values(Swap{"0x0248450100000000/2", "0x0248450100000000/4"},
                                         Swap{"0x0248450100000100/4", "0x0248450100000000/3"},
                                         Swap{"0x0248450100000100/4", "0x0248450100000500/4"},
                                         Swap{"0x0248450100000100/4", "0x0248450100000600/2"},
                                         Swap{"0x0248450100000100/4", "0x0248450100000d00/4"}));

}  // namespace
}  // namespace heddle::planned
