#include "planned/route_maker.h"

#include <gmock/gmock.h>
#include <rapidcheck/gtest.h>

#include <span>
#include <string_view>
#include <utility>

#include "base/random.h"
#include "routing/proof.h"
#include "unit/planned/subnets.h"

namespace heddle::planned {
namespace {

using testing::AllOf;
using testing::Each;
using testing::ElementsAre;
using testing::HasSubstr;

/// Ranks as a plan of the daemon has them.
plan::Plan plan_for(const Subnet& subnet) {
  const auto router = routing::UpDownRouter::make(*subnet.fabric).value();
  plan::Plan plan;
  plan.epoch = 1;
  for (std::uint32_t s = 0; s < router.graph().size(); ++s) {
    const routing::SwitchIndex at{s};
    plan.ranks.emplace_back(router.graph().guid(at), router.ranks().rank(at));
  }
  return plan;
}

void expect_proved(const RouteMaker& maker, const Routes& routes, const routing::LinkSet& active) {
  routing::ProofOptions options;
  options.active = &active;
  const auto proof = routing::prove(maker.router().graph(), routes.tables, options);
  ASSERT_TRUE(proof.holds()) << describe(proof.findings.front(), *routes.fabric, maker.router().graph());
}

struct Case {
  const char* spec;
  unsigned lmc;
};
class Shapes : public testing::TestWithParam<Case> {};

TEST_P(Shapes, AreRoutedWithoutAPlan) {
  const Subnet subnet =
      make_subnet(records_of(*fabric_of(GetParam().spec, static_cast<std::uint8_t>(GetParam().lmc))), {});
  RouteMaker maker;
  const auto routes = maker.make(subnet, nullptr, GetParam().lmc);
  ASSERT_TRUE(routes) << routes.error().message;
  EXPECT_EQ(routes->unconnected, 0U);
  expect_proved(maker, *routes, subnet.usable);
}

INSTANTIATE_TEST_SUITE_P(All, Shapes,
                         testing::Values(Case{"tree:k=4,n=3,full", 0}, Case{"tree:k=4,n=2", 1},
                                         Case{"torus:4x4,hosts=2,links=2", 0},
                                         Case{"torus:4x4,hosts=1,links=2", 2},
                                         Case{"random:switches=12,hosts=20,links=26,ports=12,seed=7", 1}));

TEST(RouteMaker, RoutesAroundWhatThePlanSwitchesOffBeforeAndAfterItIsOff) {
  SubnetRecords records = records_of(*fabric_of("torus:4x4,hosts=1,links=2"));
  Subnet subnet = make_subnet(records, {});
  plan::Plan plan = plan_for(subnet);
  plan.off = {trunks_of(records)[0], trunks_of(records)[9]};
  RouteMaker maker;
  const auto before = maker.make(subnet, &plan, 0).value();
  routing::LinkSet active = subnet.usable;
  for (const LinkRef& link : plan.off) active.erase(find_link(*subnet.fabric, link));
  expect_proved(maker, before, active);
  EXPECT_EQ(before.permitted, active);

  // OpenSM no longer sees them, and a restarted one never did.
  for (const LinkRef& link : plan.off) remove(records, link);
  subnet = make_subnet(records, plan.off);
  EXPECT_EQ(maker.make(subnet, &plan, 0).value().tables, before.tables);
  RouteMaker restarted;
  EXPECT_EQ(restarted.make(subnet, &plan, 0).value().tables, before.tables);
}

TEST(RouteMaker, KeepsTheOrderOfThePlanWhenThePlanIsLost) {
  const Subnet subnet = make_subnet(records_of(*fabric_of("torus:4x4,hosts=1")), {});
  plan::Plan plan = plan_for(subnet);
  for (auto& [guid, rank] : plan.ranks) rank = static_cast<std::uint16_t>(100 + guid.raw() % 7);
  RouteMaker maker;
  const auto with = maker.make(subnet, &plan, 0).value();
  EXPECT_EQ(maker.make(subnet, nullptr, 0).value().tables, with.tables);
  RouteMaker other;
  EXPECT_NE(other.make(subnet, nullptr, 0).value().tables, with.tables);
}

TEST(RouteMaker, PlacesSwitchesThatThePlanDoesNotKnow) {
  const auto fabric = fabric_of("tree:k=3,n=2");
  const Subnet subnet = make_subnet(records_of(*fabric), {});
  const plan::Plan whole = plan_for(subnet);
  for (std::size_t i = 0; i < whole.ranks.size(); ++i) {
    plan::Plan plan = whole;
    plan.ranks.erase(plan.ranks.begin() + static_cast<std::ptrdiff_t>(i));
    RouteMaker maker;
    const auto routes = maker.make(subnet, &plan, 0).value();
    EXPECT_EQ(routes.unconnected, 0U);
    expect_proved(maker, routes, subnet.usable);
  }
}

TEST(RouteMaker, ChangesOnePlaneAtATime) {
  const SubnetRecords records = records_of(*fabric_of("tree:k=4,n=2", 1));
  const Subnet subnet = make_subnet(records, {});
  plan::Plan plan = plan_for(subnet);
  plan.planes.resize(2);
  RouteMaker maker;
  const auto before = maker.make(subnet, &plan, 1).value();
  const LinkRef link = trunks_of(records)[3];
  plan.planes[1].avoid = {link};
  const auto after = maker.make(subnet, &plan, 1).value();
  EXPECT_NE(after.tables, before.tables);
  for (const routing::Target& target : maker.router().graph().targets()) {
    for (std::uint32_t s = 0; s < maker.router().graph().size(); ++s) {
      const routing::SwitchIndex at{s};
      EXPECT_EQ(after.tables.port(at, target.base), before.tables.port(at, target.base));
    }
  }
  EXPECT_FALSE(after.permitted.contains(find_link(*subnet.fabric, link)));
}

TEST(RouteMaker, MorePlanesThanLidsAreThoseThatHaveLids) {
  const Subnet subnet = make_subnet(records_of(*fabric_of("tree:k=4,n=2")), {});
  plan::Plan plan = plan_for(subnet);
  plan.planes.resize(4);
  plan.planes[1].avoid = trunks_of(records_of(*fabric_of("tree:k=4,n=2")));
  RouteMaker maker;
  const auto routes = maker.make(subnet, &plan, 0).value();
  EXPECT_EQ(routes.stages.size(), 1U);
  EXPECT_EQ(routes.permitted, subnet.usable);
}

TEST(RouteMaker, StagesLeadFromTheOldTablesToTheNewOnesAndEveryMixtureIsSafe) {
  const SubnetRecords records = records_of(*fabric_of("torus:5x5,hosts=1"));
  const Subnet subnet = make_subnet(records, {});
  const auto trunks = trunks_of(records);
  std::size_t staged = 0;
  for (std::size_t i = 0; i < trunks.size(); i += 5) {
    plan::Plan plan = plan_for(subnet);
    RouteMaker maker;
    std::vector<routing::ForwardingTables> steps{maker.make(subnet, &plan, 0).value().tables};
    plan.planes.resize(1);
    plan.planes[0].avoid = {trunks[i]};
    const auto final = maker.make(subnet, &plan, 0).value();
    plan.planes[0].staged.emplace();
    for (std::uint32_t stage = 0;; ++stage) {
      plan.planes[0].staged->stage = stage;
      const auto routes = maker.make(subnet, &plan, 0).value();
      steps.push_back(routes.tables);
      if (stage + 1 >= routes.stages[0]) break;
      ++staged;
    }
    EXPECT_EQ(steps.back(), final.tables);
    std::vector<const routing::ForwardingTables*> all;
    for (const auto& step : steps) all.push_back(&step);
    EXPECT_TRUE(routing::prove_stages(maker.router().graph(), all).holds());
  }
  EXPECT_GT(staged, 0U);
}

/// That a way there before and after is a way there at each stage.
void expect_nobody_misses_a_way(const routing::SwitchGraph& graph,
                                std::span<const routing::ForwardingTables> steps) {
  for (const routing::ForwardingTables& step : steps) {
    for (const routing::Target& target : graph.targets()) {
      for (std::uint32_t s = 0; s < graph.size(); ++s) {
        const routing::SwitchIndex sw{s};
        const auto has = [&](const routing::ForwardingTables& tables) {
          return tables.port(sw, target.base) != no_path;
        };
        EXPECT_TRUE(has(step) || !has(steps.front()) || !has(steps.back()))
            << "switch " << s << " has no way to LID " << target.base.raw();
      }
    }
  }
}

// World 4000022189 of the swarm: a spine that only a mend joins to a leaf had no entry for a stage.
TEST(RouteMaker, NoMendIsMissedMeanwhileThatCanChangeAtOnce) {
  const SubnetRecords records = records_of(*fabric_of("grown:seed=189,hosts=40"));
  const Subnet subnet = make_subnet(records, {});
  std::size_t staged = 0;
  for (const LinkRef& trunk : trunks_of(records)) {
    plan::Plan plan = plan_for(subnet);
    RouteMaker maker;
    std::vector<routing::ForwardingTables> steps{maker.make(subnet, &plan, 0).value().tables};
    plan.planes.resize(1);
    plan.planes[0].avoid = {trunk};
    for (std::uint32_t stage = 0, count = 1; stage < count; ++stage) {
      plan.planes[0].staged = plan::Staged{{}, stage};
      const auto routes = maker.make(subnet, &plan, 0).value();
      count = routes.stages[0];
      staged += count > 1 ? 1U : 0U;
      steps.push_back(routes.tables);
    }
    expect_nobody_misses_a_way(maker.router().graph(), steps);
  }
  EXPECT_GT(staged, 0U);
}

// Random runs 230078 and 230305 of the real programs: who had a way over avoided links alone lost it for a
// stage or two.
TEST(RouteMaker, NobodyLosesAWayThatThePlanBeforeHadToRelaxFor) {
  SubnetRecords records = records_of(*fabric_of("torus:4x4,hosts=1,links=1"));
  const auto trunks = trunks_of(records);
  const NodeGuid parted = trunks.front().a.node;
  plan::Plan plan = plan_for(make_subnet(records, {}));
  plan.planes.resize(1);
  for (const LinkRef& trunk : trunks) {
    if (trunk != trunks.front() && (trunk.a.node == parted || trunk.b.node == parted))
      plan.planes[0].avoid.push_back(trunk);
  }
  remove(records, trunks.front());
  const Subnet subnet = make_subnet(records, {{trunks.front()}});
  RouteMaker maker;
  const auto relaxed = maker.make(subnet, &plan, 0).value();
  ASSERT_TRUE(relaxed.relaxed);
  std::vector<routing::ForwardingTables> steps{relaxed.tables};
  const plan::Staged from{std::exchange(plan.planes[0].avoid, {}), 0};
  for (std::uint32_t stage = 0, count = 1; stage < count; ++stage) {
    plan.planes[0].staged = plan::Staged{from.from, stage};
    const auto routes = maker.make(subnet, &plan, 0).value();
    count = routes.stages[0];
    steps.push_back(routes.tables);
  }
  expect_nobody_misses_a_way(maker.router().graph(), steps);
}

TEST(RouteMaker, UsesLinksOfThePlanThatAreUpWhereHostsWouldBeCutOff) {
  const SubnetRecords records = records_of(*fabric_of("tree:k=2,n=2"));
  const Subnet subnet = make_subnet(records, {});
  plan::Plan plan = plan_for(subnet);
  plan.off = trunks_of(records);
  RouteMaker maker;
  const auto routes = maker.make(subnet, &plan, 0).value();
  EXPECT_TRUE(routes.relaxed);
  EXPECT_EQ(routes.unconnected, 0U);
  EXPECT_THAT(routes.remarks, Each(AllOf(HasSubstr("2 pairs of switches"), HasSubstr("first \"leaf-0\" ("),
                                         HasSubstr("to \"leaf-1\" ("))));
  EXPECT_EQ(routes.remarks.size(), 1U);
}

/// The trunks that join these two.
std::vector<LinkRef> between(const Subnet& subnet, const SubnetRecords& records, std::string_view one,
                             std::string_view other) {
  const auto is_called = [&](NodeGuid guid, std::string_view name) {
    return subnet.fabric->node(subnet.fabric->find_node(guid)).description == name;
  };
  std::vector<LinkRef> found;
  std::ranges::copy_if(trunks_of(records), std::back_inserter(found), [&](const LinkRef& link) {
    return (is_called(link.a.node, one) && is_called(link.b.node, other)) ||
           (is_called(link.a.node, other) && is_called(link.b.node, one));
  });
  return found;
}

// Random runs 230317 and 240060 of the real programs: a plan that was made before a cut left a switch without
// hosts links that led to nobody who manages it, and the tables followed.
TEST(RouteMaker, UsesLinksOfThePlanThatAreUpWhereASwitchWouldLoseTheManager) {
  const SubnetRecords records = records_of(*fabric_of("tree:k=2,n=2"));
  Subnet subnet = make_subnet(records, {});
  plan::Plan plan = plan_for(subnet);
  plan.planes.resize(1);
  plan.planes[0].avoid = between(subnet, records, "leaf-0", "spine-1");
  ASSERT_FALSE(plan.planes[0].avoid.empty());
  RouteMaker maker;
  EXPECT_FALSE(maker.make(subnet, &plan, 0).value().relaxed) << "nobody manages it";
  const auto host = std::ranges::find(records.nodes, "host-0 mlx5_0", &Node::description);
  ASSERT_NE(host, records.nodes.end());
  subnet.manager = PortRef{host->guid, PortNum{1}};
  const auto routes = maker.make(subnet, &plan, 0).value();
  EXPECT_TRUE(routes.relaxed);
  EXPECT_EQ(routes.unconnected, 0U);
  EXPECT_THAT(routes.remarks, ElementsAre(AllOf(HasSubstr("2 pairs of switches"), HasSubstr("\"spine-1\""))));
}

/// A spine, and OpenSM at a host.
struct Managed {
  explicit Managed(SubnetRecords each) : records{std::move(each)} {
    const auto host = std::ranges::find(records.nodes, "host-0 mlx5_0", &Node::description);
    records.manager = PortRef{host->guid, PortNum{1}};
  }
  [[nodiscard]] NodeGuid guid(std::string_view name) const {
    return std::ranges::find(records.nodes, name, &Node::description)->guid;
  }
  SubnetRecords records;
};

// Random run 510805 of the real programs: a switch was gone, and a plan that was made before heddled knew of
// that took the last cable of another one, which OpenSM saw no more cables of.
TEST(RouteMaker, ASwitchThatAPlanLeavesNothingOfIsMissedWhereItsOtherNeighbourIsGone) {
  Managed managed{records_of(*fabric_of("xgft:3;3,3,2;1,2,2"))};
  const Subnet whole = make_subnet(managed.records, {});
  plan::Plan plan = plan_for(whole);
  plan.planes.resize(1);
  plan.planes[0].avoid = between(whole, managed.records, "spine-1-0", "core-0-1");
  ASSERT_EQ(plan.planes[0].avoid.size(), 1U);
  const auto lost = between(whole, managed.records, "spine-0-0", "core-0-1");
  RouteMaker maker;
  EXPECT_FALSE(maker.make(whole, &plan, 0).value().relaxed);
  const NodeGuid core = managed.guid("core-0-1");
  remove(managed.records, managed.guid("spine-0-0"));
  const Subnet subnet = make_subnet(managed.records, lost);
  const auto routes = maker.make(subnet, &plan, 0).value();
  EXPECT_TRUE(routes.relaxed);
  EXPECT_EQ(routes.unconnected, 0U);
  EXPECT_THAT(routes.remarks,
              ElementsAre(AllOf(HasSubstr("2 pairs of switches"), HasSubstr("\"core-0-1\""))));
  plan.drained = {core};
  EXPECT_FALSE(maker.make(subnet, &plan, 0).value().relaxed);
}

TEST(RouteMaker, ASwitchThatIsDrainedIsNotMissedWhateverIsWrongWithItsCables) {
  Managed managed{records_of(*fabric_of("tree:k=2,n=2"))};
  const Subnet whole = make_subnet(managed.records, {});
  plan::Plan plan = plan_for(whole);
  plan.planes.resize(1);
  plan.drained = {managed.guid("spine-1")};
  // What fell no plan avoids.
  plan.planes[0].avoid = between(whole, managed.records, "leaf-0", "spine-1");
  const auto cut = between(whole, managed.records, "leaf-1", "spine-1");
  ASSERT_FALSE(cut.empty());
  for (const LinkRef& link : cut) remove(managed.records, link);
  RouteMaker maker;
  EXPECT_FALSE(maker.make(make_subnet(managed.records, cut), &plan, 0).value().relaxed);
  plan.drained.clear();
  EXPECT_TRUE(maker.make(make_subnet(managed.records, cut), &plan, 0).value().relaxed);
}

TEST(RouteMaker, CutsHostsOffWhereAnOperatorWantsThat) {
  const SubnetRecords records = records_of(*fabric_of("tree:k=2,n=2"));
  const Subnet subnet = make_subnet(records, {});
  plan::Plan plan = plan_for(subnet);
  plan.off = plan.forced = trunks_of(records);
  RouteMaker maker;
  const auto routes = maker.make(subnet, &plan, 0).value();
  EXPECT_FALSE(routes.relaxed);
  EXPECT_EQ(routes.unconnected, 2U);
  // What regulation alone wants gives way all the same.
  plan.forced.resize(1);
  EXPECT_TRUE(maker.make(subnet, &plan, 0).value().relaxed);
}

// Random run 2300822 of the real programs: heddled had turned off what a confirmed plan had off, and OpenSM,
// which had not looked again since, led hosts over it when the next plan would have parted them.
TEST(RouteMaker, DoesNotUseALinkInNeedThatMayBeOffByNow) {
  const SubnetRecords records = records_of(*fabric_of("tree:k=2,n=2"));
  Subnet subnet = make_subnet(records, {});
  const auto off = between(subnet, records, "leaf-0", "spine-0");
  plan::Plan plan = plan_for(subnet);
  plan.off = off;
  RouteMaker maker;
  ASSERT_FALSE(maker.make(subnet, &plan, 0).value().relaxed);
  ReleasedLinks released;
  released.confirmed(plan.off);
  plan.planes.resize(1);
  plan.planes[0].avoid = between(subnet, records, "leaf-0", "spine-1");
  subnet.released = released.links();
  const auto led_over_off = [&] {
    const auto routes = maker.make(subnet, &plan, 0).value();
    EXPECT_TRUE(routes.relaxed);
    EXPECT_EQ(routes.unconnected, 0U);
    const PortIndex port = subnet.fabric->find_port(off.front().a);
    return routes.open.contains(subnet.fabric->port(port).link);
  };
  EXPECT_FALSE(led_over_off());
  released.were_looked_at();
  subnet.released = released.links();
  EXPECT_TRUE(led_over_off());
}

TEST(RouteMaker, UsesALinkThatMayBeOffByNowWhereThePlanPermitsItAgain) {
  const SubnetRecords records = records_of(*fabric_of("tree:k=2,n=2"));
  Subnet subnet = make_subnet(records, {});
  subnet.released = between(subnet, records, "leaf-0", "spine-0");
  plan::Plan plan = plan_for(subnet);
  plan.off = between(subnet, records, "leaf-1", "spine-1");
  plan.planes.resize(1);
  plan.planes[0].avoid = between(subnet, records, "leaf-0", "spine-1");
  const auto links = between(subnet, records, "leaf-1", "spine-0");
  plan.planes[0].avoid.insert(plan.planes[0].avoid.end(), links.begin(), links.end());
  std::ranges::sort(plan.planes[0].avoid);
  RouteMaker maker;
  const auto routes = maker.make(subnet, &plan, 0).value();
  EXPECT_TRUE(routes.relaxed);
  EXPECT_EQ(routes.unconnected, 0U);
  const PortIndex port = subnet.fabric->find_port(subnet.released.front().a);
  EXPECT_TRUE(routes.permitted.contains(subnet.fabric->port(port).link));
}

TEST(RouteMaker, DoesNotUseALinkThatIsReallyOff) {
  SubnetRecords records = records_of(*fabric_of("tree:k=2,n=2"));
  plan::Plan plan = plan_for(make_subnet(records, {}));
  plan.off = trunks_of(records);
  for (const LinkRef& link : plan.off) remove(records, link);
  const Subnet subnet = make_subnet(records, plan.off);
  RouteMaker maker;
  const auto routes = maker.make(subnet, &plan, 0).value();
  EXPECT_FALSE(routes.relaxed);
  EXPECT_GT(routes.unconnected, 0U);
  const auto& graph = maker.router().graph();
  for (std::uint32_t s = 0; s < graph.size(); ++s) {
    for (const routing::Hop& hop : graph.hops(routing::SwitchIndex{s})) {
      EXPECT_THAT(routes.tables.row(routing::SwitchIndex{s}), Each(testing::Ne(hop.out.raw())));
    }
  }
}

TEST(RouteMaker, AnEmptySubnetIsRouted) {
  RouteMaker maker;
  EXPECT_TRUE(maker.make(make_subnet({}, {}), nullptr, 0));
}

RC_GTEST_PROP(RouteMakerProperty, NeverRoutesIntoALinkThatIsNotUsable, ()) {
  SubnetRecords records = records_of(*fabric_of("torus:4x4,hosts=1,links=2", 1));
  plan::Plan plan = plan_for(make_subnet(records, {}));
  plan.planes.resize(2);
  Random random(*rc::gen::arbitrary<std::uint64_t>());
  for (Cable& cable : records.cables) {
    if (!cable.joins_switches) continue;
    const auto roll = random.below(10);
    if (roll == 0) cable.active = false;
    if (roll == 1) plan.off.push_back(cable.link);
    if (roll == 2) plan.planes[0].avoid.push_back(cable.link);
    if (roll == 3) plan.planes[1].avoid.push_back(cable.link);
  }
  const Subnet subnet = make_subnet(records, plan.off);
  RouteMaker maker;
  const auto routes = maker.make(subnet, &plan, 1);
  RC_ASSERT(routes.has_value());
  const auto& graph = maker.router().graph();
  for (std::uint32_t s = 0; s < graph.size(); ++s) {
    const routing::SwitchIndex at{s};
    for (const routing::Hop& hop : graph.hops(at)) {
      if (subnet.usable.contains(hop.link)) continue;
      for (const std::uint8_t out : routes->tables.row(at)) RC_ASSERT(out != hop.out.raw());
    }
  }
}

}  // namespace
}  // namespace heddle::planned
